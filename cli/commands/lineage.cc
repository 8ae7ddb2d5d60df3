#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/shown_candidate.h"
#include "cli/stored_run.h"
#include "cli/table.h"

namespace evo {
namespace {

struct LineageOptions : HistoryOptions {
  std::optional<CandidateId> id;
};

void RunLineage(CommandContext& context, const LineageOptions& options) {
  const History history = OpenForShowing(context, options);
  const RunId run = history.FindRun(options.run).record.id;
  const std::vector<CandidateRecord> line = history.Lineage(run, FindShownCandidate(history, run, options.id).candidate.id);
  const std::optional<CandidateRecord> baseline = history.Baseline(run);
  // From the scores of the search for every step, so that steps compare; `evo best` prints the re-timed speed-up.
  const auto speedup = [&](const CandidateRecord& record) {
    return baseline ? baseline->evaluation.score_ns / record.evaluation.score_ns : kNoValue;
  };
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({">candidate", ">generation", ">us", ">speed-up", "operator", "change"});
  const Candidate* parent = nullptr;
  for (const CandidateRecord& record : line) {
    const Candidate& c = record.candidate;
    const std::string change = DescribeStep(c, parent);
    table.Add({std::to_string(c.id), std::to_string(c.generation), Microseconds(record.evaluation.score_ns),
               Ratio(speedup(record)), c.op, change});
    json.push_back({{"id", c.id},
                    {"generation", c.generation},
                    {"parents", c.parents},
                    {"operator", c.op},
                    {"change", change},
                    {"outcome", ToString(record.evaluation.outcome)},
                    {"score_ns", record.evaluation.score_ns},
                    {"speedup", speedup(record)}});
    parent = &c;
  }
  if (options.json) {
    PrintLines(context.out, Dump(json));
  } else {
    table.Print(context.out);
  }
}

}  // namespace

void AddLineage(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<LineageOptions>();
  CLI::App* command = app.add_subcommand("lineage", "Show the way from a template to a candidate, edit by edit");
  AddHistoryOptions(*command, context, *options);
  command->add_option("ID", options->id, "Candidate (default: the best)");
  command->callback([&context, options] { RunLineage(context, *options); });
}

}  // namespace evo
