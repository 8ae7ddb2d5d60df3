// A worker process: parses, compiles or runs evolved kernels. It may die of them; the coordinator does not.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "cli/worker_confinement.h"
#include "core/error.h"
#include "core/record_json.h"
#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/compiler/nvrtc/nvcc_compiler.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/device/cpu/cpu_device.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_device.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "evaluator/reference/python_reference.h"
#include "evaluator/workers/device_roles.h"
#include "evaluator/workers/kept_compiler.h"
#include "evaluator/workers/watched_worker.h"
#include "evaluator/workers/worker_identity.h"
#include "evaluator/workers/worker_main.h"
#include "evo_version.h"
#include "import/import.h"
#include "import/kernel_signatures.h"
#include "mutators/breeding/breeding_station.h"
#include "platform/folder_writer.h"
#include "platform/installation.h"
#include "platform/kept_process.h"
#include "platform/scratch_folder.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

fs::path RequiredCudaRoot() {
  const auto root = CudaRoot();
  if (!root) throw Error("the CUDA toolkit was not found; install it, or set CUDA_HOME to where it is");
  return *root;
}

fs::path Scratch(const char* purpose) { return fs::temp_directory_path() / fmt::format("evo-{}-{}", purpose, ::getpid()); }

std::unique_ptr<NvrtcCompiler> MakeNvrtc(const fs::path& assembled = {}) {
  return std::make_unique<NvrtcCompiler>(NvrtcPaths{RequiredCudaRoot(), ShareDirectory() / "nvrtc", Scratch("nvrtc"), assembled});
}

CompileResult CompileExport(const ExportRequest& request) {
  return NvccCompiler(RequiredCudaRoot(), Scratch("nvcc")).Compile(request.exported, request.kernels, request.variables);
}

// There is a compile worker on every core, and the processes that feed and time the device must not wait for a core.
void YieldToOthers() {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, 0, kNice);
  // NVRTC keeps what it compiled in a folder that all processes share and lock. A search never compiles a source twice.
  ::setenv("CUDA_CACHE_DISABLE", "1", 0);
}

DeviceKind CpuKind() {
  return {.kind = kCpuPolicy.kind,
          .make_compiler = []() -> std::unique_ptr<Compiler> {
            YieldToOthers();
            return std::make_unique<HostCompiler>(HostCompilerPaths{
                "g++", ShareDirectory() / "cpu", RequiredCudaRoot() / "include", Scratch("host"), UserCacheFolder()});
          },
          .make_check_compiler = [] { return MakeNvrtc(); },
          .compile_export = CompileExport,
          .make_device = [](const nlohmann::json&) { return MakeCpuDevice(); }};
}

// What the process that owns a GPU does with it.
CudaUse UseIn(const nlohmann::json& init) {
  const std::string use = init.value("use", "timing");
  return use == "tool" ? CudaUse::kTool : use == "counting" ? CudaUse::kCounting : CudaUse::kTiming;
}

// Where evo's own kernels for a GPU are kept, compiled.
struct KernelStore {
  fs::path folder;                       // empty: nowhere
  std::unique_ptr<FolderWriter> writer;  // null: nothing is added
};

// The file's size and time, if it is a file.
std::string StampOf(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  const auto time = fs::last_write_time(file, failed).time_since_epoch().count();
  return fmt::format("{} {} {}", file.string(), failed ? 0 : size, failed ? 0 : time);
}

// What decides how NVRTC compiles a source of ours: the options are part of this program.
std::string MakerOf(const NvrtcCompiler& compiler) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return fmt::format("{}\n{}\n{}\n{}", kEvoVersion, compiler.version(), StampOf(compiler.file()), StampOf(program));
}

std::unique_ptr<Device> MakeCudaDevice(const nlohmann::json& init, const KernelStore& store) {
  const std::unique_ptr<NvrtcCompiler> nvrtc = MakeNvrtc();
  KeptCompiler compiler(*nvrtc, MakerOf(*nvrtc), store.folder, [&](std::string_view name, std::string_view contents) {
    if (store.writer != nullptr) store.writer->Write(name, contents);
  });
  return std::make_unique<CudaDevice>(CudaDeviceOptions{init.at("ordinal").get<int>(), RequiredCudaRoot(), UseIn(init)},
                                      compiler);
}

DeviceKind CudaKind(const std::shared_ptr<KernelStore>& store) {
  return {.kind = kCudaPolicy.kind,
          .make_compiler =
              [] {
                YieldToOthers();
                // Every worker of this run has the same temporary folder.
                return MakeNvrtc(fs::temp_directory_path() / "evo-assembled");
              },
          .make_check_compiler = {},
          .compile_export = CompileExport,
          .make_device = [store](const nlohmann::json& init) { return MakeCudaDevice(init, *store); }};
}

SyntaxPaths ParserPaths() {
  return {RequiredCudaRoot(), ShareDirectory() / "clang", ShareDirectory() / "syntax", UserCacheFolder()};
}

class BreedRole : public WorkerRole {
 public:
  explicit BreedRole(std::vector<KernelTemplate> templates) : station_(std::move(templates), ParserPaths()) {}
  Message Handle(const Message& job, WorkerChannel& channel) override {
    channel.Begin(Stage::kBreed);
    if (job.header.contains("places_in"))
      return {{{"places", PlacesIn(job.header.at("places_in").get<std::string>(), job.header.at("operator").get<std::string>())}},
              {}};
    if (job.header.contains("kind_of")) return {{{"kind", station_.KindOf(job.header.at("kind_of").get<std::string>())}}, {}};
    return {{{"child", station_.Breed(job.header.at("request").get<BreedRequest>())}}, {}};
  }

 private:
  nlohmann::json PlacesIn(const std::string& name, const std::string& op) {
    nlohmann::json places = nlohmann::json::array();
    for (const MutatorPlaces& one : station_.PlacesIn(name, op))
      places.push_back({{"mutator", one.mutator}, {"places", one.proposals}, {"refusals", one.refusals}});
    return places;
  }

  BreedingStation station_;
};

std::unique_ptr<WorkerRole> MakeBreedRole(const nlohmann::json& init) {
  LoadParserLibrary();
  std::vector<KernelTemplate> templates;
  for (const auto& one : init.at("templates"))
    templates.push_back(ParseTemplate(one.at("name").get<std::string>(), one.at("text").get<std::string>()));
  return std::make_unique<BreedRole>(std::move(templates));
}

// Reads a user's program, host code included, for `evo init`; of a template, the parameters of its kernels.
class ImportRole : public WorkerRole {
 public:
  ImportRole() : parser_(ParserPaths()) {}
  Message Handle(const Message& job, WorkerChannel& channel) override {
    channel.Begin(Stage::kBreed);
    if (job.header.contains("text"))
      return {{{"signatures", ReadSignatures(job.header.at("text").get<std::string>(), parser_)}}, {}};
    return {{{"reply", Import(job.header.at("request").get<ImportRequest>(), parser_)}}, {}};
  }

 private:
  SyntaxParser parser_;
};

// The interpreter of a task with a Python reference, which a confined worker could not start.
WorkerRoleFactory WithReference(GivenReference given, WorkerRoleFactory make) {
  return [given = std::move(given), make = std::move(make)](const nlohmann::json& init) {
    if (init.contains("python")) *given = std::make_unique<PythonReference>(init.at("python"));
    return make(init);
  };
}

// A confined worker cannot write what it compiles while its device is made. A child of it can, which has ended before the worker
// gets a job. A tool that watches the worker would watch the child.
WorkerRoleFactory WithKernelStore(std::shared_ptr<KernelStore> store, WorkerRoleFactory make) {
  return [store = std::move(store), make = std::move(make)](const nlohmann::json& init) {
    if (init.value("device", "") == kCudaPolicy.kind) {
      store->folder = OwnFolder(UserCacheFolder());
      if (UseIn(init) != CudaUse::kTool) store->writer = std::make_unique<FolderWriter>(store->folder);
    }
    std::unique_ptr<WorkerRole> role = make(init);
    store->writer.reset();
    return role;
  };
}

// Where another program than evo starts the worker, anybody may write to $TMPDIR.
WorkerRoleFactory WithScratch(ScratchFolder& scratch, WorkerRoleFactory make) {
  return [&scratch, make = std::move(make)](const nlohmann::json& init) {
    scratch.OpenUnlessGiven();
    return make(init);
  };
}

int Serve() {
  std::signal(SIGXFSZ, SIG_DFL);  // evo ignores it; a candidate or a compiler that writes without end is ended
  const auto reference = std::make_shared<std::unique_ptr<Reference>>();
  const auto kernels = std::make_shared<KernelStore>();
  auto roles = DeviceRoles({CpuKind(), CudaKind(kernels)}, reference);
  roles["breed"] = MakeBreedRole;
  roles["import"] = [](const nlohmann::json&) { return std::make_unique<ImportRole>(); };
  ScratchFolder scratch;
  for (auto& [name, make] : roles) {
    make = WithReference(reference, Confined(name, std::move(make)));
    if (name == "run") make = WithKernelStore(kernels, std::move(make));
    make = WithScratch(scratch, std::move(make));
  }
  return WorkerMain(roles, Introduction(kEvoVersion));
}

// The keeper removes the scratch folder, which the worker itself, confined or killed, could not. `tool`: of compute-sanitizer,
// that is to watch the worker; empty: none.
int ServeLaunched(const std::string& tool) {
  // A worker that is between two jobs ends at once.
  constexpr std::chrono::milliseconds kGrace{500};
  ScratchFolder scratch;
  try {
    scratch.OpenApart();
  } catch (const Error&) {
    // The worker tries it again, and says why it cannot be.
  }
  if (tool.empty() || scratch.path().empty()) return RunKept(Serve, kGrace);
  return RunWatched(tool, scratch.path(), Introduction(kEvoVersion).value("host", ""), kGrace);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  const bool launched = argc > 1 && std::string_view(argv[1]) == evo::kLaunched;
  const bool watched = argc > 3 && std::string_view(argv[2]) == evo::kWatchedBy;
  return launched ? evo::ServeLaunched(watched ? argv[3] : "") : evo::Serve();
}
