#include "cli/worker_confinement.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "cli/tool_files.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "platform/confinement.h"

namespace evo {
namespace {

// An image of the cpu device has some 100 KB; the largest file of a compiler is a precompiled header of 60 MB.
constexpr rlim_t kLargestImage = 256UL << 20;
constexpr rlim_t kLargestFile = 1UL << 30;

// A kernel or a compiler may try to use all memory there is. Each process gets half of it; beyond that it dies alone.
rlim_t HalfOfMemory() {
  return static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

Confinement ConfinementOf(const std::string& role, const nlohmann::json& init) {
  Confinement confinement;
  if (role != "run") {
    confinement.calls = role == "compile" ? SystemCalls::kCompiler : SystemCalls::kParser;
    confinement.files = ToolFiles();
    confinement.memory_bytes = HalfOfMemory();
    confinement.file_bytes = kLargestFile;
  } else if (init.value("device", "") == kCpuPolicy.kind) {
    confinement.calls = SystemCalls::kKernel;
    // Images come from memory. The device lists its own threads.
    confinement.files = FileAccess{{}, {"/proc/self/task"}, {}};
    confinement.memory_bytes = HalfOfMemory();
    confinement.file_bytes = kLargestImage;
  }
  return confinement;
}

MissingLayers ConfineTo(const Confinement& confinement) {
  MissingLayers missing = Confine(confinement);
  // Only a run worker of a GPU: docs/security.md says why.
  if (!confinement.calls) missing.emplace_back("seccomp, Landlock: not used for the process that owns a GPU");
  return missing;
}

class ConfinedRole : public WorkerRole {
 public:
  ConfinedRole(std::unique_ptr<WorkerRole> role, MissingLayers missing) : role_(std::move(role)), missing_(std::move(missing)) {}
  nlohmann::json Describe() override {
    nlohmann::json description = role_->Describe();
    description["unconfined"] = missing_;
    return description;
  }
  Message Handle(const Message& job, WorkerChannel& channel) override { return role_->Handle(job, channel); }
  bool MustRestart() const override { return role_->MustRestart(); }

 private:
  std::unique_ptr<WorkerRole> role_;
  MissingLayers missing_;
};

}  // namespace

WorkerRoleFactory Confined(const std::string& role, WorkerRoleFactory make) {
  return [role, make = std::move(make)](const nlohmann::json& init) -> std::unique_ptr<WorkerRole> {
    // It would keep what it compiled in the user's cache folder, where nothing can be written any more.
    ::setenv("CCACHE_DISABLE", "1", 0);
    std::unique_ptr<WorkerRole> made = make(init);
    return std::make_unique<ConfinedRole>(std::move(made), ConfineTo(ConfinementOf(role, init)));
  };
}

}  // namespace evo
