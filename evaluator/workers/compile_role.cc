#include "evaluator/workers/compile_role.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <thread>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/compiler/rules/source_rules.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/launch_prediction.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/kernel_template.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

constexpr std::chrono::milliseconds kDiskFullPause{500};  // between attempts on a full disk

std::vector<std::string> KernelExpressions(const KernelTemplate& rendered) {
  std::vector<std::string> expressions;
  for (const Step& step : rendered.steps) {
    if (!step.launch) continue;
    const std::string& expression = step.launch->kernel_expression;
    if (std::find(expressions.begin(), expressions.end(), expression) == expressions.end()) expressions.push_back(expression);
  }
  return expressions;
}

std::vector<std::string> FilledVariables(const KernelTemplate& rendered) {
  std::vector<std::string> variables;
  for (const ConstantDirective& constant : rendered.constants) variables.push_back(constant.variable);
  return variables;
}

// Whether `name` occurs in `text` as a whole word.
bool Names(std::string_view text, std::string_view name) {
  const auto is_name_byte = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_name_byte(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_name_byte(text[at + name.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// The rules for a source hold for its launch lines as well.
std::optional<SourceObjection> Objection(const CompilerInput& input) {
  std::string text = input.source;
  for (const std::string& expression : input.kernel_expressions) text += "\n" + expression + ";";
  return CheckSource(text);
}

// Digest of the images, of the directives that say how they are launched, and of the parameters that those directives name.
std::string ProgramDigest(const CompiledProgram& program, const KernelTemplate& rendered) {
  std::string launches;
  for (const Directive& directive : FindDirectives(rendered.name, rendered.text)) {
    if (directive.word != "param" && directive.word != "constraint") launches += directive.word + " " + directive.text + "\n";
  }
  std::string values;
  for (const Parameter& parameter : rendered.space.parameters) {
    if (Names(launches, parameter.name)) values += parameter.name + "=" + std::to_string(parameter.initial) + "\n";
  }
  std::string images = program.sizes.empty() ? program.image : ToText(program.sizes) + "\n" + program.image;
  for (const CompiledProgram& other : program.others) images += "\n" + ToText(other.sizes) + "\n" + Digest(other.image);
  return Digest(launches + values + images);
}

// The macro values at these sizes, each set once, in this order. Sizes without values are left out.
std::vector<SizeValues> DistinctValues(const KernelTemplate& rendered, const std::vector<Sizes>& sizes) {
  std::vector<SizeValues> distinct;
  for (const Sizes& one : sizes) {
    try {
      SizeValues values = ValuesFor(rendered.size_macros, one);
      if (std::find(distinct.begin(), distinct.end(), values) == distinct.end()) distinct.push_back(std::move(values));
    } catch (const Error&) {
    }
  }
  return distinct;
}

bool Contains(const std::vector<SizeValues>& all, const SizeValues& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// One more image of the same source. Images without contents are not wanted.
void AddImage(CompiledProgram& all, CompiledProgram image, const SizeValues& values) {
  if (image.image.empty()) return;
  image.sizes = values;
  if (all.image.empty())
    all = std::move(image);
  else
    all.others.push_back(std::move(image));
}

CompileResult Failed(std::string message) {
  CompileResult failed;
  failed.message = std::move(message);
  return failed;
}

}  // namespace

Message CompileRole::Handle(const Message& job, WorkerChannel& channel) {
  CompileWorkerRequest request = ToCompileWorkerRequest(job);
  if (auto* limits = std::get_if<LaunchLimitsRequest>(&request)) {
    limits_ = {ParseTask(limits->task_json, limits->task_reference, limits->task_directory), std::move(limits->device)};
    return {};
  }
  channel.Begin(Stage::kCompile);
  const auto until = std::chrono::steady_clock::now() + most_wait_;
  for (;;) {
    try {
      if (const auto* exported = std::get_if<ExportRequest>(&request)) return ToMessage(exporter_(*exported));
      return ToMessage(Compile(std::get<CompileRequest>(request), channel));
    } catch (const DiskFull& full) {
      if (std::chrono::steady_clock::now() >= until) {
        CompileResult failed;
        failed.outcome = Outcome::kCancelled;
        failed.machine_failed = true;
        failed.message = full.what();
        return ToMessage(failed);
      }
    }
    std::this_thread::sleep_for(kDiskFullPause);
  }
}

CompileResult CompileRole::Compile(const CompileRequest& request, WorkerChannel& channel) {
  if (!request.kernels.empty()) return main_->Compile({request.source, request.kernels, request.arch});
  KernelTemplate rendered;
  try {
    rendered = ParseTemplate("candidate", request.source);
  } catch (const Error& error) {
    return Failed(error.what());
  }
  if (limits_ && request.check) {
    if (const auto reason = CannotLaunch(rendered, limits_->task, limits_->device)) {
      CompileResult failed = Failed(*reason + " (not compiled)");
      failed.outcome = Outcome::kResourceLimit;
      return failed;
    }
  }
  if (!CompilesFor(rendered.required_arch, request.arch)) {
    CompileResult failed = Failed(fmt::format("requires {}, and this is compiled for {}", rendered.required_arch, request.arch));
    failed.outcome = Outcome::kUnsupported;
    return failed;
  }
  return CompileImages(request, rendered, channel);
}

// What no launch can follow is not compiled: arrays of as many elements as an unusual size has take the compiler minutes. Where
// accesses are checked, the check says that it cannot be launched.
std::vector<Sizes> CompileRole::Launchable(const KernelTemplate& rendered, const ImageSizes& sizes) const {
  std::vector<Sizes> all = sizes.wanted;
  if (!limits_) return all;
  std::erase_if(all, [&](const Sizes& wanted) {
    const bool checked = std::find(sizes.checked.begin(), sizes.checked.end(), wanted) != sizes.checked.end();
    Case one;
    one.sizes = wanted;
    return !checked && CannotLaunchAt(rendered, limits_->task, one, limits_->device).has_value();
  });
  return all;
}

CompileResult CompileRole::CompileImages(const CompileRequest& request, const KernelTemplate& rendered, WorkerChannel& channel) {
  CompilerInput input{request.source, KernelExpressions(rendered), request.arch};
  input.variables = FilledVariables(rendered);
  input.judged = request.check;
  input.line_info = request.line_info;
  if (request.check) {
    if (const auto objection = Objection(input)) {
      CompileResult refused = Failed(ToString(*objection));
      refused.outcome = Outcome::kUnsupported;
      return refused;
    }
  }
  if (rendered.size_macros.empty()) {
    CompileResult result = CompileImage(input, {request.check, request.check});
    if (result.outcome == Outcome::kOk) result.program_digest = ProgramDigest(result.program, rendered);
    return result;
  }
  try {
    for (const Sizes& sizes : request.sizes.needed) ValuesFor(rendered.size_macros, sizes);
  } catch (const Error& error) {
    return Failed(error.what());
  }
  const std::vector<SizeValues> needed = DistinctValues(rendered, request.sizes.needed);
  const std::vector<SizeValues> checked = DistinctValues(rendered, request.sizes.checked);
  std::vector<SizeValues> all = needed;
  for (SizeValues& values : DistinctValues(rendered, Launchable(rendered, request.sizes))) {
    if (!Contains(needed, values)) all.push_back(std::move(values));
  }
  if (needed.empty()) return Failed("sizes are compiled in (evo:size), and the request names none");
  CompileResult result;
  for (const SizeValues& values : all) {
    channel.Begin(Stage::kCompile);
    input.source = RenderSizes(request.source, values);
    const bool must = Contains(needed, values);
    // The needed ones show that the source is valid CUDA.
    CompileResult one = CompileImage(input, {request.check && must, request.check && Contains(checked, values)});
    if (one.outcome != Outcome::kOk && must) {
      one.message = fmt::format("with {}: {}", ToText(values), one.message);
      return one;
    }
    if (one.outcome != Outcome::kOk) continue;
    if (result.outcome != Outcome::kOk) result.facts = one.facts, result.log = one.log, result.outcome = Outcome::kOk;
    AddImage(result.program, std::move(one.program), values);
    AddImage(result.checked, std::move(one.checked), values);
  }
  result.program_digest = ProgramDigest(result.program, rendered);
  return result;
}

CompileResult CompileRole::CompileImage(const CompilerInput& input, const Wanted& wanted) {
  if (check_ && wanted.valid_cuda) {
    // Only to PTX: that proves the source valid, and ptxas takes the longer half of the time.
    CompilerInput to_ptx = input;
    to_ptx.judged = false;
    if (to_ptx.arch.rfind("sm_", 0) == 0) to_ptx.arch.replace(0, 3, "compute_");
    const CompileResult result = check_->Compile(to_ptx);
    if (result.outcome != Outcome::kOk) return result;
  }
  CompileResult result = main_->Compile(input);
  if (result.outcome != Outcome::kOk) return result;
  if (checks_accesses_ && wanted.checked_accesses) {
    CompilerInput with_checks = input;
    with_checks.checked = true;
    CompileResult checked = main_->Compile(with_checks);
    if (checked.outcome != Outcome::kOk) return checked;
    result.checked = std::move(checked.program);
  }
  return result;
}

}  // namespace evo
