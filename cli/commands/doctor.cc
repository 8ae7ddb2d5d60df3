#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/table.h"
#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/device/cuda/cuda_devices.h"
#include "evaluator/workers/unconfined.h"
#include "evaluator/workers/worker_pool.h"
#include "evo_version.h"
#include "platform/cores.h"
#include "platform/disk_full.h"
#include "platform/installation.h"

namespace evo {
namespace {

struct Examined {
  std::string what;
  std::string state;   // "ok", "missing", "none"
  std::string detail;  // what was found, or what to do
};

// Starts one worker of a role, as a run does, and reports the result.
Examined TryWorker(const std::string& what, nlohmann::json init, const std::string& good, bool required,
                   std::set<std::string>& unconfined) {
  try {
    WorkerPool pool(UsualPool(what, std::move(init), 1));
    const nlohmann::json ready = pool.WaitReady();
    unconfined.merge(UnconfinedIn(ready));
    return {what, "ok", ready.contains("device") ? ready.at("device").value("name", good) : good};
  } catch (const Error& error) {
    return {what, required ? "missing" : "none", error.what()};
  }
}

// Where compile workers keep precompiled headers and images; see TMPDIR in docs/command_line.md.
Examined TemporaryFiles(const std::filesystem::path& folder) {
  constexpr double kOfWorker = 0.1e9;
  std::error_code failed;
  const auto free = static_cast<double>(std::filesystem::space(folder, failed).available);
  const double wanted = kOfWorker * AvailableCores();
  const bool enough = failed || free >= wanted;
  return {"temporary files", enough ? "ok" : "none",
          fmt::format("{:.1f} GB free in {}{}", failed ? 0 : free / 1e9, folder.parent_path().string(),
                      enough ? "" : fmt::format(", a run on the cpu device may need {:.1f}: {}", wanted / 1e9, kMakeRoom))};
}

// Whether this evo has the commands report and serve.
Examined ReportPage() {
#ifdef EVO_HAS_PAGE
  const auto page = ShareDirectory() / "report" / "page.html";
  const bool found = std::filesystem::exists(page);
  return {"report page", found ? "ok" : "none",
          found ? "evo report, evo serve" : page.string() + " is missing; build the target report_page"};
#else
  return {"report page", "none", "built without node and npm: evo report and evo serve are left out"};
#endif
}

std::vector<Examined> Examine() {
  std::vector<Examined> findings;
  findings.push_back({"evo", "ok", std::string("version ") + kEvoVersion + ", " + ProgramDirectory().string()});
  const auto root = CudaRoot();
  findings.push_back({"CUDA toolkit", root ? "ok" : "missing",
                      root ? root->string() : "install it from NVIDIA's packages, or set CUDA_HOME to where it is"});
  findings.push_back(TemporaryFiles(std::filesystem::temp_directory_path()));
  findings.push_back(ReportPage());
  const CudaDevices gpus = ListCudaDevices();
  for (const CudaDeviceSummary& gpu : gpus.devices)
    findings.push_back(
        {fmt::format("GPU {}", gpu.ordinal), "ok", fmt::format("{}, {}, driver for CUDA {}", gpu.name, gpu.arch, gpus.driver)});
  if (gpus.devices.empty()) findings.push_back({"GPU", "none", gpus.why_none});
  findings.push_back({"insight", gpus.devices.empty() ? "none" : "ok",
                      gpus.devices.empty() ? "needs a GPU; on the cpu device nothing is known of the machine code"
                                           : "facts of the compiler, machine code, shares of the peak rates (docs/insight.md)"});
  std::set<std::string> unconfined;  // layers that some worker lacks
  const auto try_worker = [&](const char* what, nlohmann::json init, const char* good, bool required) {
    findings.push_back(TryWorker(what, std::move(init), good, required, unconfined));
  };
  if (root) {
    try_worker("breed worker", {{"role", "breed"}, {"templates", nlohmann::json::array()}}, "libclang 16 parses CUDA", true);
    try_worker("NVRTC", {{"role", "compile"}, {"device", "cuda"}}, "compiles for the GPU, and checks what runs on the cpu device",
               true);
    try_worker("cpu device's compiler", {{"role", "compile"}, {"device", "cpu"}}, "g++ compiles kernels for this processor",
               gpus.devices.empty());
    try_worker("cpu device", {{"role", "run"}, {"device", "cpu"}, {"ordinal", 0}}, "", false);
    if (!gpus.devices.empty()) {
      const nlohmann::json first = {{"role", "run"}, {"device", "cuda"}, {"ordinal", gpus.devices.front().ordinal}};
      try_worker("cuda device", first, "", true);
      nlohmann::json counting = first;
      counting["use"] = "counting";
      try_worker("hardware counters", counting, "", false);
    }
    findings.push_back({"confinement", unconfined.empty() ? "ok" : "none",
                        unconfined.empty() ? "workers run under seccomp, Landlock and limits (docs/security.md)"
                                           : fmt::format("{}", fmt::join(unconfined, "; "))});
  }
  return findings;
}

}  // namespace

void AddDoctor(CLI::App& app, CommandContext& context) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "Say what evo finds on this machine, and what is missing");
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([&context, as_json] {
    context.open_scratch_folder();
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    Table table({"part", "state", "detail"});
    for (const Examined& finding : Examine()) {
      if (finding.state == "missing") context.exit_code = 1;
      table.Add({finding.what, finding.state, finding.detail});
      json.push_back({{"part", finding.what}, {"state", finding.state}, {"detail", finding.detail}});
    }
    if (*as_json)
      PrintLines(context.out, Dump(json));
    else
      table.Print(context.out);
  });
}

}  // namespace evo
