#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "core/record_fields.h"
#include "db/rows.h"

namespace evo {
namespace {

using nlohmann::ordered_json;

struct HistoryListOptions : HistoryOptions {
  bool runs = false;
  bool timing = false;
};

void PrintRuns(std::FILE* out, const History& history, const std::vector<RunSummary>& runs, bool as_json) {
  if (as_json) {
    ordered_json json = ordered_json::array();
    for (const RunSummary& run : runs) json.push_back(ToJson(run));
    PrintLines(out, Dump(json));
    return;
  }
  Table table({">run", ">started", "status", "task", "device", "l2", ">generations", ">evaluated", ">valid", ">best us"});
  for (const RunSummary& run : runs) {
    const std::optional<CandidateRecord> best = history.Best(run.record.id);
    table.Add({std::to_string(run.record.id), run.started_at,
               fmt::format("{}{}", ToString(run.status), IsReplay(run.record) ? ", replay" : ""), run.record.task,
               run.record.device_name, run.record.l2,
               run.record.generations < kUnlimitedGenerations ? fmt::format("{}/{}", run.generations_done, run.record.generations)
                                                              : std::to_string(run.generations_done),
               std::to_string(run.evaluated), std::to_string(run.valid),
               Microseconds(best ? best->evaluation.score_ns : kNoValue)});
  }
  table.Print(out);
}

// "compile" for the field compile_ms, with its milliseconds.
std::vector<std::pair<std::string, double>> Stages(const StageClocks& clocks) {
  constexpr std::size_t kUnit = std::string_view("_ms").size();
  std::vector<std::pair<std::string, double>> stages;
  ForEachField(clocks, [&](std::string_view name, double ms) { stages.emplace_back(name.substr(0, name.size() - kUnit), ms); });
  return stages;
}

void PrintTiming(std::FILE* out, const History& history, const RunSummary& run, bool as_json) {
  const auto stages = Stages(history.TotalClocks(run.record.id));
  double total = 0;
  ordered_json json{{"run", run.record.id}, {"evaluated", run.evaluated}};
  for (const auto& [name, ms] : stages) {
    json[name + "_ms"] = ms;
    total += ms;
  }
  if (as_json) {
    PrintLines(out, Dump(json));
    return;
  }
  Table table({"stage", ">total ms", ">share", ">ms a candidate"});
  for (const auto& [name, ms] : stages) {
    table.Add({name, fmt::format("{:.1f}", ms), fmt::format("{:.1f}%", total > 0 ? 100 * ms / total : 0),
               fmt::format("{:.2f}", run.evaluated > 0 ? ms / run.evaluated : 0)});
  }
  table.Print(out);
}

constexpr int kFastestShown = 5;
constexpr std::size_t kSparkWidth = 60;

// "2.191 us after 3.014 us: ▇▃▁"; the fastest so far after each generation, on a scale of factors.
void PrintProgress(std::FILE* out, const std::vector<GenerationRow>& generations) {
  std::vector<double> values;
  double first = kNoValue;
  for (const GenerationRow& row : generations) {
    values.push_back(std::log(row.best_so_far_ns));
    if (std::isnan(first)) first = row.best_so_far_ns;
  }
  const std::string line = LogSparkline(values, std::min(kSparkWidth, LineWidth(out) - 40));
  if (values.size() < 2 || line.empty()) return;
  Print(out, "progress: {} us to {} us  {}\n\n", Microseconds(first), Microseconds(generations.back().best_so_far_ns), line);
}

void PrintFastest(std::FILE* out, const History& history, RunId run) {
  const std::optional<CandidateRecord> baseline = history.Baseline(run);
  Table table({">fastest", ">us", ">speed-up", "operator", "template", "verdict"});
  bool any = false;
  for (const CandidateRecord& record : history.Fastest(run, kFastestShown)) {
    const double ns = record.evaluation.score_ns;
    table.Add({std::to_string(record.candidate.id), Microseconds(ns),
               Ratio(baseline ? baseline->evaluation.score_ns / ns : kNoValue), record.candidate.op,
               record.candidate.genome.template_name, Verdict(record)});
    any = true;
  }
  if (!any) return;
  table.Print(out);
  Print(out, "\n");
}

std::string OtherOutcomes(const GenerationRow& row) {
  std::string text;
  for (const auto& [outcome, count] : row.outcomes) {
    if (outcome != "ok") text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
  }
  return text;
}

void PrintJson(std::FILE* out, const History& history, const RunSummary& run) {
  ordered_json json = ToJson(run);
  json["generation_rows"] = ordered_json::array();
  for (const GenerationRow& row : history.Generations(run.record.id)) {
    json["generation_rows"].push_back({{"generation", row.generation},
                                       {"evaluated", row.evaluated},
                                       {"valid", row.valid},
                                       {"duplicates", row.duplicates},
                                       {"best_ns", row.best_ns},
                                       {"best_so_far_ns", row.best_so_far_ns},
                                       {"outcomes", row.outcomes}});
  }
  json["fastest"] = ordered_json::array();
  for (const CandidateRecord& record : history.Fastest(run.record.id, kFastestShown)) {
    json["fastest"].push_back({{"id", record.candidate.id},
                               {"score_ns", record.evaluation.score_ns},
                               {"operator", record.candidate.op},
                               {"verdict", Verdict(record)}});
  }
  json["machines"] = ToJson(history.Machines(run.record.id));
  json["operator_rows"] = ordered_json::array();
  for (const OperatorRow& row : history.Operators(run.record.id)) {
    json["operator_rows"].push_back({{"operator", row.op},
                                     {"children", row.children},
                                     {"valid", row.valid},
                                     {"faster_than_parent", row.faster_than_parent},
                                     {"best_gain", row.best_gain},
                                     {"inapplicable", row.inapplicable}});
  }
  PrintLines(out, Dump(json));
}

void PrintText(std::FILE* out, const History& history, const RunSummary& run) {
  const RunRecord& r = run.record;
  Print(out, "run {}: task {} on {} ({}), L2 {}, seed {}, started {}, {}{}{}\n\n", r.id, r.task, r.device_name, r.arch, r.l2,
        r.seed, run.started_at, ToString(run.status), run.status_message.empty() ? "" : ": ", run.status_message);
  for (const MachineState& machine : history.Machines(r.id))
    Print(out, "cuda:{} at the {}: {}\n", machine.ordinal, machine.moment, Describe(machine));
  const std::vector<GenerationRow> rows = history.Generations(r.id);
  PrintProgress(out, rows);
  PrintFastest(out, history, r.id);
  Table generations({">generation", ">evaluated", ">valid", ">duplicates", ">best us", ">best so far us", "other outcomes"});
  for (const GenerationRow& row : rows) {
    generations.Add({std::to_string(row.generation), std::to_string(row.evaluated), std::to_string(row.valid),
                     std::to_string(row.duplicates), Microseconds(row.best_ns), Microseconds(row.best_so_far_ns),
                     OtherOutcomes(row)});
  }
  generations.Print(out);
  Print(out, "\n");
  Table operators({"operator", ">children", ">valid", ">faster than parent", ">best gain", ">inapplicable"});
  for (const OperatorRow& row : history.Operators(r.id)) {
    operators.Add({row.op, std::to_string(row.children), std::to_string(row.valid), std::to_string(row.faster_than_parent),
                   Ratio(row.best_gain), std::to_string(row.inapplicable)});
  }
  operators.Print(out);
}

void RunHistory(CommandContext& context, const HistoryListOptions& options) {
  const History history = OpenForShowing(context, options);
  if (options.runs) return PrintRuns(context.out, history, history.Runs(), options.json);
  const RunSummary run = FindShownRun(context, history, options);
  if (options.timing) return PrintTiming(context.out, history, run, options.json);
  if (options.json) return PrintJson(context.out, history, run);
  const Pager pager(context.out);
  PrintText(context.out, history, run);
}

}  // namespace

void AddHistory(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<HistoryListOptions>();
  CLI::App* command = app.add_subcommand("history", "Show the generations and operators of a run");
  AddHistoryOptions(*command, context, *options);
  CLI::Option* runs = command->add_flag("--runs", options->runs, "List the runs instead");
  command->add_flag("--timing", options->timing, "Show where the time went instead")->excludes(runs);
  command->callback([&context, options] { RunHistory(context, *options); });
}

}  // namespace evo
