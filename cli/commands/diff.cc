#include "cli/commands/diff.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/describe.h"
#include "cli/stored_run.h"
#include "cli/unified_diff.h"
#include "core/error.h"

namespace evo {
namespace {

struct Options : HistoryOptions {
  CandidateId a = 0;
  std::optional<CandidateId> b;
};

// The candidate that is the template of `record` at its defaults.
CandidateRecord DefaultOf(const History& history, RunId run, const CandidateRecord& record) {
  std::vector<CandidateRecord> defaults =
      history.Candidates(run, {.op = "default", .template_name = record.candidate.genome.template_name});
  if (defaults.empty()) {
    throw UsageError(fmt::format("run {}: template {} was not evaluated at its defaults; name a second candidate", run,
                                 record.candidate.genome.template_name));
  }
  return std::move(defaults.front());
}

void RunDiff(const CommandContext& context, const Options& options) {
  const History history(options.database);
  const RunRecord run = history.FindRun(options.run).record;
  const CandidateRecord a = history.FindCandidate(run.id, options.a);
  const CandidateRecord from = options.b ? a : DefaultOf(history, run.id, a);
  const CandidateRecord to = options.b ? history.FindCandidate(run.id, *options.b) : a;
  const SourceRenderer render = context.make_renderer();
  const auto name = [](const CandidateRecord& record) {
    return fmt::format("{}.cu candidate {} ({} us)", record.candidate.genome.template_name, record.candidate.id,
                       Microseconds(record.evaluation.score_ns));
  };
  const std::string diff = UnifiedDiff(name(from), RenderStored(render, run, from), name(to), RenderStored(render, run, to));
  if (options.json) {
    fmt::print(context.out, "{}", Dump({{"from", from.candidate.id}, {"to", to.candidate.id}, {"diff", diff}}));
  } else {
    fmt::print(context.out, "{}", diff);
  }
}

}  // namespace

void AddDiff(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff", "Show what differs between the sources of two candidates");
  AddHistoryOptions(*command, context, *options);
  command->add_option("A", options->a, "Candidate")->required();
  command->add_option("B", options->b, "Candidate; without it, from the template at its defaults to A");
  command->callback([&context, options] { RunDiff(context, *options); });
}

}  // namespace evo
