#include "cli/worker_confinement.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "evaluator/compiler/host/prelude_cache.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "platform/confinement.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// An image of the cpu device has some 100 KB; the largest file of a compiler is a precompiled header of 60 MB.
constexpr rlim_t kLargestImage = 256UL << 20;
constexpr rlim_t kLargestFile = 1UL << 30;

// A kernel or a compiler may try to use all memory there is. Each process gets half of it; beyond that it dies alone.
rlim_t HalfOfMemory() {
  return static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

std::vector<fs::path> FoldersIn(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream list(value == nullptr ? "" : value);
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

// A compiler may be installed where people's data are: in a folder of its own, with bin/ and lib/.
std::vector<fs::path> CompilerFolders() {
  std::vector<fs::path> folders;
  for (const fs::path& folder : FoldersIn("PATH")) {
    std::error_code missing;
    const fs::path compiler = fs::canonical(folder / "g++", missing);
    if (!missing && compiler.parent_path().filename() == "bin") folders.push_back(compiler.parent_path().parent_path());
  }
  return folders;
}

// Programs, libraries and headers can be read, the scratch folder can be written.
FileAccess ToolFiles() {
  FileAccess files;
  files.readable = ProgramFolders();
  const auto add = [&](const std::vector<fs::path>& paths) {
    files.readable.insert(files.readable.end(), paths.begin(), paths.end());
  };
  add({"/proc", "/etc/alternatives", "/etc/ld.so.cache", "/dev/zero", "/dev/urandom"});
  add({ProgramDirectory(), ShareDirectory(), UserCacheFolder()});
  for (const auto& entry : fs::directory_iterator(ShareDirectory())) add({entry.path()});  // links, in a build tree
  if (const auto cuda = CudaRoot()) add({*cuda});
  add(CompilerFolders());
  add(FoldersIn("LD_LIBRARY_PATH"));
  files.writable = {fs::temp_directory_path(), "/dev/null"};
  return files;
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
