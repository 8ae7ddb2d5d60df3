#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/edit_promises.h"
#include "cli/export_host.h"
#include "cli/export_kernel.h"
#include "cli/insight.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verdict.h"
#include "core/error.h"
#include "kernel_templates/kernel_template.h"

namespace evo {
namespace {

struct BestOptions : HistoryOptions {
  std::string export_file;
  bool with_host = false;
};

struct BestOfRun {
  RunSummary run;
  CandidateRecord best;
  std::optional<CandidateRecord> baseline;
  std::vector<CandidateRecord> lineage;
  std::vector<EfficiencyRow> efficiency;
  std::optional<MinimisedVariant> minimised;
};

BestOfRun FindBest(CommandContext& context, const BestOptions& options) {
  const History history = OpenForShowing(context, options);
  RunSummary run = FindShownRun(context, history, options);
  const RunId id = run.record.id;
  std::optional<CandidateRecord> best = history.Best(id);
  if (!best) {
    throw Error(
        fmt::format("{}: run {} has no kernel that was shown right; `evo history --run {}` lists the outcomes of its candidates",
                    options.database, id, id));
  }
  const CandidateId candidate = best->candidate.id;
  DiagnoseOlder(best->evaluation, run.record, history.Machines(id));
  return {std::move(run),
          std::move(*best),
          history.Baseline(id),
          history.Lineage(id, candidate),
          history.Efficiency(id, candidate),
          history.Minimised(id, candidate)};
}

void PrintText(std::FILE* out, const BestOfRun& found) {
  const Candidate& candidate = found.best.candidate;
  const Evaluation& evaluation = found.best.evaluation;
  Print(out, "candidate   {} of run {} (task {})\n", candidate.id, found.run.record.id, found.run.record.task);
  Print(out, "template    {}\n", candidate.genome.template_name);
  Print(out, "parameters  {}\n", Describe(candidate.genome.parameters));
  Print(out, "score       {} us in the search (weighted geometric mean of the medians)\n", Microseconds(evaluation.score_ns));
  Print(out, "speed-up    {}\n", Describe(SpeedupOver(found.baseline, found.best)));
  Print(out, "verdict     {}\n", Verdict(found.best));
  if (found.best.check) PrintEvidence(out, *found.best.check, false);
  if (!IsVerified(found.best))
    Print(out, "            not verified: `evo verify --run {}` runs all checks\n", found.run.record.id);
  Print(out, "device      {} ({}), L2 {}{}\n", evaluation.device_name, evaluation.device, evaluation.l2,
        IsReplay(found.run.record) ? "; replayed: measured in another run" : "");
  PrintBottleneck(out, evaluation);
  Print(out, "lineage     {} steps from template {}\n", found.lineage.size() - 1,
        found.lineage.front().candidate.genome.template_name);
  PrintEdits(out, candidate, found.minimised);
  Print(out, "promise     {}\n", DescribePromises(candidate.genome));
  Print(out, "\n");
  Table table({"case", ">weight", ">median us", ">p10 us", ">p90 us", ">samples"});
  for (const CaseMeasurement& m : evaluation.cases) {
    table.Add({m.name, fmt::format("{}", m.weight), Microseconds(m.median_ns), Microseconds(m.p10_ns), Microseconds(m.p90_ns),
               std::to_string(m.samples.size())});
  }
  table.Print(out);
  for (const EfficiencyRow& row : found.efficiency) Print(out, "{}: {}\n", row.case_name, Describe(row));
}

void PrintJson(std::FILE* out, const BestOfRun& found) {
  nlohmann::ordered_json json = ToJson(found.best);
  const Speedup speedup = SpeedupOver(found.baseline, found.best);
  json["run"] = found.run.record.id;
  json["task"] = found.run.record.task;
  json["speedup"] = speedup.value;
  json["speedup_from_check"] = speedup.from_check;
  json["speedup_baseline_ns"] = speedup.baseline_ns;
  json["speedup_kernel_ns"] = speedup.kernel_ns;
  json["verdict"] = Verdict(found.best);
  json["efficiency"] = ToJson(found.efficiency);
  json["minimised"] = found.minimised ? ToJson(*found.minimised) : nlohmann::ordered_json();
  json["lineage"] = nlohmann::ordered_json::array();
  for (const CandidateRecord& ancestor : found.lineage) json["lineage"].push_back(ancestor.candidate.id);
  PrintLines(out, Dump(json));
}

void RunBest(CommandContext& context, const BestOptions& options) {
  const bool to_output = options.export_file == "-";
  if (options.with_host && (to_output || !IsRegularOutput(options.export_file))) {
    throw UsageError(
        fmt::format("--with-host: writes a second file beside {}, which is not a regular file; name one", options.export_file));
  }
  if (to_output && options.json) throw UsageError("--export -: the kernel would follow the JSON; leave out one of them");
  const BestOfRun found = FindBest(context, options);
  if (options.json) {
    PrintJson(context.out, found);
  } else if (!to_output) {
    PrintText(context.out, found);
  }
  if (options.export_file.empty()) return;
  const std::string source = RenderStored(context.make_renderer(), found.run.record, found.best);
  const std::optional<Task> task = FindStoredTask(context, found.run.record);
  const std::string kernel = ExportKernel({found.run.record, task, found.best, found.baseline, found.lineage, source});
  if (to_output) return IsTerminal(context.out) ? PrintLines(context.out, kernel) : PrintRaw(context.out, kernel);
  std::fflush(context.out);  // the file may be the same
  WriteOutputFile(options.export_file, kernel);
  if (!options.json) Print(context.out, "\nwritten to {}\n", options.export_file);
  if (!options.with_host) return;
  if (!task)
    throw Error(fmt::format("task {}: its files are gone or have changed; without them there is no launching program to write",
                            found.run.record.task));
  std::filesystem::path file = options.export_file;
  const std::string kernel_file = file.filename().string();
  const std::string stem = file.stem().string();
  const KernelTemplate exported = ParseTemplate(found.best.candidate.genome.template_name, source);
  const auto sizes = found.best.check ? found.best.check->domain.sizes : std::vector<std::string>();
  const auto write = [&](const std::string& name, const std::string& text) {
    file.replace_filename(name);
    WriteOutputFile(file.string(), text);
    if (!options.json) Print(context.out, "written to {}\n", file.string());
  };
  write(stem + "_host.cu", ExportHost(exported, *task, kernel_file, found.run.record.arch, sizes));
  write(stem + "_host.h", ExportHeader(exported, *task, kernel_file));
}

}  // namespace

void AddBest(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<BestOptions>();
  CLI::App* command = app.add_subcommand("best", "Show the fastest kernel that was shown right, or export it");
  AddHistoryOptions(*command, context, *options);
  command
      ->add_option("--export", options->export_file,
                   "Write it to this file as a self-contained .cu; -: to the standard output, in the place of the text")
      ->check([](const std::string& file) { return file.empty() ? std::string("name a file") : std::string(); });
  command
      ->add_flag("--with-host", options->with_host,
                 "Write also NAME_host.cu and .h, which launch it: attributes, clusters, tensor maps")
      ->needs("--export");
  command->callback([&context, options] { RunBest(context, *options); });
}

}  // namespace evo
