// evo-worker for the cpu device without the rules for sources and images: what a kernel that got past them could do. Its
// processes are confined as those of evo-worker are.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <variant>

#include "cli/worker_confinement.h"
#include "core/digest.h"
#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/device/cpu/cpu_device.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/device_roles.h"
#include "kernel_templates/kernel_template.h"
#include "platform/installation.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

class LawlessCompileRole : public WorkerRole {
 public:
  LawlessCompileRole()
      : compiler_({"g++", ShareDirectory() / "cpu", *CudaRoot() / "include",
                   std::filesystem::temp_directory_path() / fmt::format("evo-lawless-{}", ::getpid()), UserCacheFolder()}) {}

  Message Handle(const Message& job, WorkerChannel& channel) override {
    const CompileWorkerRequest request = ToCompileWorkerRequest(job);
    const auto* asked = std::get_if<CompileRequest>(&request);
    if (asked == nullptr) return {};
    channel.Begin(Stage::kCompile);
    CompilerInput input{asked->source, {}, asked->arch};
    for (const Step& step : ParseTemplate("candidate", asked->source).steps) {
      if (step.launch) input.kernel_expressions.push_back(step.launch->kernel_expression);
    }
    CompileResult result = compiler_.Compile(input);
    result.program_digest = Digest(asked->source);
    return ToMessage(result);
  }

 private:
  HostCompiler compiler_;
};

}  // namespace
}  // namespace evo

int main() {
  auto roles = evo::DeviceRoles({{.kind = evo::kCpuPolicy.kind,
                                  .make_compiler = {},
                                  .make_check_compiler = {},
                                  .compile_export = {},
                                  .make_device = [](const nlohmann::json&) { return evo::MakeCpuDevice(); }}});
  roles["compile"] = [](const nlohmann::json&) { return std::make_unique<evo::LawlessCompileRole>(); };
  for (auto& [name, make] : roles) make = evo::Confined(name, std::move(make));
  return evo::WorkerMain(roles);
}
