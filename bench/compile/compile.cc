// The processor time that a compile worker takes for a candidate: settings of a template, drawn with a fixed seed and compiled
// for a GPU as a worker does. The digest is of all machine code, so that two builds of evo can be compared.
//
//   ninja -C build/release evo-bench-compile && build/release/bin/evo-bench-compile [--settings N] TASK/TEMPLATE ..
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/compile_role.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"
#include "platform/scratch_folder.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr int kSettings = 24;
constexpr const char* kArch = "sm_90a";

class SilentChannel : public WorkerChannel {
 public:
  void Begin(Stage, bool) override {}
};

double Milliseconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto ms = [](const timeval& time) {
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

struct Times {
  double worker = 0;  // NVRTC and what evo does itself
  double ptxas = 0;
};

Times Now() { return {Milliseconds(RUSAGE_SELF), Milliseconds(RUSAGE_CHILDREN)}; }

// The defaults and `settings` others, fewer where the template has not that many.
std::vector<std::string> Sources(const KernelTemplate& one, int settings) {
  std::vector<std::string> sources = {RenderParameters(one.text, one.space.Defaults())};
  std::set<std::string> seen(sources.begin(), sources.end());
  Rng rng(1);
  for (int draws = 0; draws < 20 * settings && sources.size() <= static_cast<std::size_t>(settings); ++draws) {
    const auto drawn = one.space.Draw(rng);
    if (!drawn) continue;
    std::string source = RenderParameters(one.text, *drawn);
    if (seen.insert(source).second) sources.push_back(std::move(source));
  }
  return sources;
}

struct Measured {
  int settings = 0;
  int failed = 0;
  Times first;  // precompiles the headers, too
  Times others;
  std::string images;  // digests
};

// Compiles one after another in one worker, of which the first is not among the others.
Measured Measure(const std::vector<CompileRequest>& requests, const fs::path& folder) {
  CompileRole role(std::make_unique<NvrtcCompiler>(
                       NvrtcPaths{*CudaRoot(), ShareDirectory() / "nvrtc", folder / "nvrtc", folder / "assembled"}),
                   nullptr);
  SilentChannel channel;
  Measured measured;
  for (const CompileRequest& request : requests) {
    const Times start = Now();
    const CompileResult result = ToCompileResult(role.Handle(ToMessage(request), channel));
    const Times end = Now();
    Times& to = &request == &requests.front() ? measured.first : measured.others;
    to.worker += end.worker - start.worker;
    to.ptxas += end.ptxas - start.ptxas;
    measured.images += Digest(result.program.image) + result.message + "\n";
    if (result.outcome != Outcome::kOk) ++measured.failed;
    ++measured.settings;
  }
  return measured;
}

void Print(const std::string& name, const Measured& measured) {
  const double n = std::max(measured.settings - 1, 1);
  const Times& all = measured.others;
  fmt::print("| {} | {} | {} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {} |\n", name, measured.settings - 1, measured.failed,
             measured.first.worker + measured.first.ptxas, all.worker / n, all.ptxas / n, (all.worker + all.ptxas) / n,
             Digest(measured.images).substr(0, 12));
  std::fflush(stdout);
}

// What any candidate costs. The numbers differ, so that ptxas has to assemble each.
std::vector<CompileRequest> EmptyKernels(int settings) {
  std::vector<CompileRequest> requests;
  for (int i = 0; i <= settings; ++i)
    requests.push_back({fmt::format("__global__ void k(int* x) {{ *x = {}; }}\n", i), kArch, true, {"k"}});
  return requests;
}

std::vector<CompileRequest> Candidates(const std::string& name, int settings) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) throw Error(name + ": is not TASK/TEMPLATE");
  const KernelTemplate one =
      LoadTemplate(ShareDirectory() / "kernel_templates" / name.substr(0, slash) / (name.substr(slash + 1) + ".cu"));
  std::vector<CompileRequest> requests;
  for (const std::string& source : Sources(one, settings)) requests.push_back({source, kArch, true, {}});
  return requests;
}

int Main(int argc, char** argv) {
  // As in a worker: a second run of this program is not to find what the first has compiled.
  ::setenv("CUDA_CACHE_DISABLE", "1", 0);
  std::vector<std::string> names(argv + 1, argv + argc);
  int settings = kSettings;
  if (names.size() >= 2 && names[0] == "--settings") {
    settings = std::stoi(names[1]);
    names.erase(names.begin(), names.begin() + 2);
  }
  if (!CudaRoot()) throw Error("no CUDA toolkit; set CUDA_HOME");
  fmt::print("ms of processor time for {}, without the first setting, which also precompiles the headers\n\n", kArch);
  fmt::print("| template | settings | failed | first | NVRTC and evo | ptxas | together | digest of the machine code |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  ScratchFolder scratch;
  scratch.Open();
  Print("a kernel of one line", Measure(EmptyKernels(settings), scratch.path()));
  for (const std::string& name : names) Print(name, Measure(Candidates(name, settings), scratch.path()));
  return 0;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  try {
    return evo::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", evo::PlainText(error));
    return 1;
  }
}
