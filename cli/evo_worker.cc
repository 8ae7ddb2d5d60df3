// A worker: parses, compiles or runs evolved code in a process that may die of it.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.h"
#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/device/cpu/cpu_device.h"
#include "evaluator/device/cuda/cuda_device.h"
#include "evaluator/workers/compile_role.h"
#include "evaluator/workers/run_role.h"
#include "evaluator/workers/waiting_jobs.h"
#include "evaluator/workers/worker_main.h"
#include "mutators/breeding/breeding_station.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

fs::path RequiredCudaRoot() {
  const auto root = CudaRoot();
  if (!root) throw Error("the CUDA toolkit was not found; install it, or set CUDA_HOME to where it is");
  return *root;
}

fs::path Scratch(const char* purpose) { return fs::temp_directory_path() / fmt::format("evo-{}-{}", purpose, ::getpid()); }

std::unique_ptr<Compiler> MakeNvrtc(const fs::path& assembled = {}) {
  return std::make_unique<NvrtcCompiler>(NvrtcPaths{RequiredCudaRoot(), ShareDirectory() / "nvrtc", Scratch("nvrtc"), assembled});
}

std::unique_ptr<WorkerRole> MakeCompileRole(const nlohmann::json& init) {
  // Every core has a compile worker; the processes that feed and time the device must not wait for a core.
  constexpr int kBehindOthers = 10;
  ::setpriority(PRIO_PROCESS, 0, kBehindOthers);
  // NVRTC would cache its results in a folder that all processes share and lock; a search compiles no source twice.
  ::setenv("CUDA_CACHE_DISABLE", "1", 0);
  if (init.at("device") == "cuda") {
    // All workers of a run have the same temporary folder, and share what is assembled there.
    return std::make_unique<CompileRole>(MakeNvrtc(fs::temp_directory_path() / "evo-assembled"), nullptr);
  }
  auto host = std::make_unique<HostCompiler>(
      HostCompilerPaths{"g++", ShareDirectory() / "cpu", RequiredCudaRoot() / "include", Scratch("host")});
  return std::make_unique<CompileRole>(std::move(host), init.value("check", false) ? MakeNvrtc() : nullptr);
}

// A kernel on the cpu device that allocates without end must end its own process, not the machine.
void LimitMemory() {
  const auto whole = static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(::sysconf(_SC_PAGE_SIZE));
  const rlimit limit{whole / 2, whole / 2};
  ::setrlimit(RLIMIT_AS, &limit);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

std::unique_ptr<WorkerRole> MakeRunRole(const nlohmann::json& init) {
  const auto waiting = std::make_shared<WaitingJobsView>(init.at("waiting").get<std::string>());
  const auto jobs_wait = [waiting] { return waiting->Any(); };
  if (init.at("device") == "cpu") {
    LimitMemory();
    return std::make_unique<RunRole>(MakeCpuDevice(), jobs_wait);
  }
  const std::unique_ptr<Compiler> compiler = MakeNvrtc();
  const CudaDeviceOptions options{init.at("ordinal").get<int>(), RequiredCudaRoot(), init.value("timing", true)};
  return std::make_unique<RunRole>(std::make_unique<CudaDevice>(options, *compiler), jobs_wait);
}

class BreedRole : public WorkerRole {
 public:
  explicit BreedRole(std::vector<KernelTemplate> templates)
      : station_(std::move(templates), {RequiredCudaRoot(), ShareDirectory() / "clang", ShareDirectory() / "syntax"}) {}
  Message Handle(const Message& job, WorkerChannel& channel) override {
    channel.Begin(Stage::kBreed);
    return {{{"child", station_.Breed(job.header.at("request").get<BreedRequest>())}}, {}};
  }

 private:
  BreedingStation station_;
};

std::unique_ptr<WorkerRole> MakeBreedRole(const nlohmann::json& init) {
  std::vector<KernelTemplate> templates;
  for (const auto& one : init.at("templates"))
    templates.push_back(ParseTemplate(one.at("name").get<std::string>(), one.at("text").get<std::string>()));
  return std::make_unique<BreedRole>(std::move(templates));
}

}  // namespace
}  // namespace evo

int main() {
  return evo::WorkerMain({{"breed", evo::MakeBreedRole}, {"compile", evo::MakeCompileRole}, {"run", evo::MakeRunRole}});
}
