#include "cli/worker_confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/tool_files.h"
#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "platform/confinement.h"
#include "platform/descriptor.h"

namespace evo {
namespace {

// An image of the cpu device has some 100 KB; the largest file of a compiler is a precompiled header of 60 MB.
constexpr rlim_t kLargestImage = 64UL << 20;
// Images, and what the process has open besides. An image may be a file in memory, which no limit of the address space counts.
constexpr rlim_t kOpenFiles = 128;
constexpr rlim_t kLargestFile = 1UL << 30;

// The confinement of the process that owns a GPU, for drivers that do not bear it: 0 turns it off, "files" or "calls" leaves one
// half.
constexpr const char* kConfineGpu = "EVO_CONFINE_GPU";

bool GpuConfinementHas(std::string_view half) {
  const char* value = std::getenv(kConfineGpu);
  return value == nullptr || std::string_view(value) == "1" || std::string_view(value) == half;
}

// A kernel or a compiler may try to use all memory there is. Each process gets half of it; beyond that it dies alone.
rlim_t HalfOfMemory() {
  return static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

// What holds a worker before its role is made, and what from then on. The role of a GPU's run worker starts the driver's threads,
// which Landlock would not hold, and the driver needs system calls for that which it does not need later.
struct Phases {
  Confinement before;
  Confinement after;
  MissingLayers left_out;
};

Phases PhasesOf(const std::string& role, const nlohmann::json& init) {
  Phases phases;
  Confinement& after = phases.after;
  if (role != "run") {
    after.calls = role == "compile" ? SystemCalls::kCompiler : SystemCalls::kParser;
    after.files = ToolFiles();
    after.memory_bytes = HalfOfMemory();
    after.file_bytes = kLargestFile;
  } else if (init.value("device", "") == kCpuPolicy.kind) {
    after.calls = SystemCalls::kKernel;
    // Images come from memory. The device lists its own threads.
    after.files = FileAccess{{}, {"/proc/self/task"}, {}};
    after.memory_bytes = HalfOfMemory();
    after.file_bytes = kLargestImage;
    after.open_files = kOpenFiles;
  } else if (init.value("use", "timing") == "tool") {
    // compute-sanitizer has started it, and speaks with it by sockets and signals.
    phases.left_out = {"seccomp, Landlock: not used under compute-sanitizer"};
  } else {
    if (GpuConfinementHas("files")) phases.before.files = DriverFiles();
    if (GpuConfinementHas("calls")) after.calls = SystemCalls::kParser;
    std::vector<std::string_view> layers;
    if (!phases.before.files) layers.push_back("Landlock");
    if (!after.calls) layers.push_back("seccomp");
    if (!layers.empty()) {
      phases.left_out.push_back(fmt::format("{}: {}={} leaves out what holds the process that owns a GPU",
                                            fmt::join(layers, ", "), kConfineGpu, std::getenv(kConfineGpu)));
    }
  }
  return phases;
}

// The number of waiting jobs (evaluator/workers/waiting_jobs.h) lies in the memory of evo's process. Landlock leaves no way
// there, so that it is opened before.
Descriptor OpenWaitingJobs(nlohmann::json& init) {
  const auto path = init.find("waiting");
  if (path == init.end()) return Descriptor();
  Descriptor file(::open(path->get<std::string>().c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0) *path = fmt::format("/proc/self/fd/{}", file.get());
  return file;
}

// The role, made between the phases.
std::unique_ptr<WorkerRole> MakeBetween(const Phases& phases, const WorkerRoleFactory& make, const nlohmann::json& init,
                                        MissingLayers& missing) {
  const auto confine = [&](const Confinement& confinement) {
    for (std::string& layer : Confine(confinement)) missing.push_back(std::move(layer));
  };
  if (!phases.before.files) {
    std::unique_ptr<WorkerRole> role = make(init);
    confine(phases.after);
    return role;
  }
  nlohmann::json with_open_files = init;
  const Descriptor waiting = OpenWaitingJobs(with_open_files);
  confine(phases.before);
  try {
    std::unique_ptr<WorkerRole> role = make(with_open_files);
    confine(phases.after);
    return role;
  } catch (const Error& error) {
    throw Error(fmt::format("{} (evo confines the process that owns a GPU; {}=0 tries without)", error.what(), kConfineGpu));
  }
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
    Phases phases = PhasesOf(role, init);
    MissingLayers missing = std::move(phases.left_out);
    std::unique_ptr<WorkerRole> made = MakeBetween(phases, make, init, missing);
    return std::make_unique<ConfinedRole>(std::move(made), std::move(missing));
  };
}

}  // namespace evo
