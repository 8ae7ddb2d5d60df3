#include "evaluator/compile_role.h"

#include <algorithm>

#include "core/error.h"
#include "evaluator/evaluation_messages.h"
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

}  // namespace

Message CompileRole::Handle(const Message& job, WorkerChannel& channel) {
  channel.Begin("compile");
  CompileRequest request{job.header.at("source").get<std::string>(), {}, job.header.at("arch").get<std::string>()};
  CompileResult result;
  try {
    request.kernel_expressions = KernelExpressions(ParseTemplate("candidate", request.source));
  } catch (const Error& error) {
    result.message = error.what();
    return ToMessage(result);
  }
  if (check_ && job.header.value("check", true)) {
    // As far as PTX: that the source is valid is known then, and ptxas takes the longer half of the time.
    CompileRequest as_ptx = request;
    if (as_ptx.arch.rfind("sm_", 0) == 0) as_ptx.arch.replace(0, 3, "compute_");
    result = check_->Compile(as_ptx);
    if (result.outcome != Outcome::kOk) return ToMessage(result);
  }
  return ToMessage(main_->Compile(request));
}

}  // namespace evo
