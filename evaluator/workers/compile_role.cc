#include "evaluator/workers/compile_role.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/messages/message_codec.h"
#include "kernel_templates/directive_lexer.h"
#include "kernel_templates/kernel_template.h"

namespace evo {
namespace {

std::vector<std::string> KernelExpressions(const KernelTemplate& rendered) {
  std::vector<std::string> expressions;
  for (const Step& step : rendered.steps) {
    if (!step.launch) continue;
    const std::string& expression = step.launch->kernel_expression;
    if (std::find(expressions.begin(), expressions.end(), expression) == expressions.end()) expressions.push_back(expression);
  }
  return expressions;
}

bool Names(std::string_view text, std::string_view name) {
  const auto is_name_byte = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !is_name_byte(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_name_byte(text[at + name.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// The digest of the image and of the directives that say how it is launched, with the values of the parameters that they name.
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
  channel.Begin(Stage::kCompile);
  const auto asked = FromMessage<CompileRequest>(job);
  CompilerInput request{asked.source, asked.kernels, asked.arch};
  CompileResult result;
  KernelTemplate rendered;
  if (!asked.kernels.empty()) return ToMessage(main_->Compile(request));
  try {
    rendered = ParseTemplate("candidate", request.source);
    request.kernel_expressions = KernelExpressions(rendered);
  } catch (const Error& error) {
    result.message = error.what();
    return ToMessage(result);
  }
  if (!CompilesFor(rendered.required_arch, request.arch)) {
    result.outcome = Outcome::kUnsupported;
    result.message = fmt::format("requires {}, and this is compiled for {}", rendered.required_arch, request.arch);
    return ToMessage(result);
  }
  if (check_ && asked.check) {
    // PTX is enough to know that the source is valid, and ptxas would take the longer half of the time.
    CompilerInput as_ptx = request;
    if (as_ptx.arch.rfind("sm_", 0) == 0) as_ptx.arch.replace(0, 3, "compute_");
    result = check_->Compile(as_ptx);
    if (result.outcome != Outcome::kOk) return ToMessage(result);
  }
  result = main_->Compile(request);
  if (result.outcome == Outcome::kOk) result.program_digest = ProgramDigest(result.program.image, rendered);
  if (result.outcome == Outcome::kOk && checks_accesses_ && asked.check) {
    request.checked = true;
    CompileResult checked = main_->Compile(request);
    if (checked.outcome != Outcome::kOk) return ToMessage(checked);
    result.checked = std::move(checked.program);
  }
  return ToMessage(result);
}

}  // namespace evo
