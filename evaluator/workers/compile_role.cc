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

constexpr std::chrono::milliseconds kPause{500};  // between attempts on a full disk

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

// Digest of the image, of the directives that say how it is launched, and of the parameters that those directives name.
std::string ProgramDigest(const std::string& image, const KernelTemplate& rendered) {
  std::string launches;
  for (const Directive& directive : FindDirectives(rendered.name, rendered.text)) {
    if (directive.word != "param" && directive.word != "constraint") launches += directive.word + " " + directive.text + "\n";
  }
  std::string values;
  for (const Parameter& parameter : rendered.space.parameters) {
    if (Names(launches, parameter.name)) values += parameter.name + "=" + std::to_string(parameter.initial) + "\n";
  }
  return Digest(launches + values + image);
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
      return ToMessage(Compile(std::get<CompileRequest>(request)));
    } catch (const DiskFull& full) {
      if (std::chrono::steady_clock::now() >= until) {
        CompileResult failed;
        failed.outcome = Outcome::kCancelled;
        failed.machine_failed = true;
        failed.message = full.what();
        return ToMessage(failed);
      }
    }
    std::this_thread::sleep_for(kPause);
  }
}

CompileResult CompileRole::Compile(const CompileRequest& request) {
  if (!request.kernels.empty()) return main_->Compile({request.source, request.kernels, request.arch});
  CompileResult failed;
  KernelTemplate rendered;
  try {
    rendered = ParseTemplate("candidate", request.source);
  } catch (const Error& error) {
    failed.message = error.what();
    return failed;
  }
  if (limits_ && request.check) {
    if (const auto reason = CannotLaunch(rendered, limits_->task, limits_->device)) {
      failed.outcome = Outcome::kResourceLimit;
      failed.message = *reason + " (not compiled)";
      return failed;
    }
  }
  if (!CompilesFor(rendered.required_arch, request.arch)) {
    failed.outcome = Outcome::kUnsupported;
    failed.message = fmt::format("requires {}, and this is compiled for {}", rendered.required_arch, request.arch);
    return failed;
  }
  return CompileCandidate(request, rendered);
}

CompileResult CompileRole::CompileCandidate(const CompileRequest& request, const KernelTemplate& rendered) {
  CompilerInput input{request.source, KernelExpressions(rendered), request.arch};
  input.variables = FilledVariables(rendered);
  if (request.check) {
    if (const auto objection = Objection(input)) {
      CompileResult refused;
      refused.outcome = Outcome::kUnsupported;
      refused.message = ToString(*objection);
      return refused;
    }
  }
  if (check_ && request.check) {
    // Only to PTX: that proves the source valid, and ptxas takes the longer half of the time.
    CompilerInput to_ptx = input;
    if (to_ptx.arch.rfind("sm_", 0) == 0) to_ptx.arch.replace(0, 3, "compute_");
    const CompileResult result = check_->Compile(to_ptx);
    if (result.outcome != Outcome::kOk) return result;
  }
  input.judged = request.check;
  CompileResult result = main_->Compile(input);
  if (result.outcome != Outcome::kOk) return result;
  result.program_digest = ProgramDigest(result.program.image, rendered);
  if (checks_accesses_ && request.check) {
    input.checked = true;
    CompileResult checked = main_->Compile(input);
    if (checked.outcome != Outcome::kOk) return checked;
    result.checked = std::move(checked.program);
  }
  return result;
}

}  // namespace evo
