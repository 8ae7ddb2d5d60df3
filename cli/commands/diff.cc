#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/shown_candidate.h"
#include "cli/stored_run.h"
#include "cli/terminal.h"
#include "cli/unified_diff.h"
#include "core/error.h"

namespace evo {
namespace {

struct DiffOptions : HistoryOptions {
  std::optional<CandidateId> a;
  std::optional<CandidateId> b;
  std::string colour = "auto";
};

struct Pair {
  CandidateRecord from;
  CandidateRecord to;
};

// The candidate that is the template of `record` at its default parameters.
CandidateRecord DefaultOf(const History& history, RunId run, const CandidateRecord& record) {
  std::vector<CandidateRecord> defaults =
      history.Candidates(run, {.op = "default", .template_name = record.candidate.genome.template_name});
  if (defaults.empty()) {
    throw UsageError(fmt::format("run {}: template {} was not evaluated at its defaults; name a second candidate", run,
                                 record.candidate.genome.template_name));
  }
  return std::move(defaults.front());
}

Pair FindPair(const History& history, RunId run, const DiffOptions& options) {
  if (options.b) return {history.FindCandidate(run, *options.a), history.FindCandidate(run, *options.b)};
  CandidateRecord to = FindShownCandidate(history, run, options.a);
  CandidateRecord from = DefaultOf(history, run, to);
  return {std::move(from), std::move(to)};
}

bool WantsColour(const DiffOptions& options, std::FILE* out) {
  if (options.colour != "auto") return options.colour == "always";
  return IsTerminal(out) && std::getenv("NO_COLOR") == nullptr;
}

void RunDiff(CommandContext& context, const DiffOptions& options) {
  const History history = OpenForShowing(context, options);
  const RunRecord run = history.FindRun(options.run).record;
  const auto [from, to] = FindPair(history, run.id, options);
  const SourceRenderer render = context.make_renderer();
  const auto name = [](const CandidateRecord& record) {
    return fmt::format("{}.cu candidate {} ({} us)", record.candidate.genome.template_name, record.candidate.id,
                       Microseconds(record.evaluation.score_ns));
  };
  const std::string diff = UnifiedDiff(name(from), RenderStored(render, run, from), name(to), RenderStored(render, run, to));
  if (options.json) {
    PrintLines(context.out, Dump({{"from", from.candidate.id}, {"to", to.candidate.id}, {"diff", diff}}));
  } else {
    const Pager pager(context.out);
    PrintRaw(context.out, WantsColour(options, context.out) ? Coloured(Cleaned(diff)) : Cleaned(diff));
  }
}

}  // namespace

void AddDiff(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Show what differs between the sources of two candidates");
  AddHistoryOptions(*command, context, *options);
  CLI::Option* a = command->add_option("A", options->a, "Candidate (default: the best)");
  command->add_option("B", options->b, "Candidate; without it, the difference goes from the template of A at its defaults to A")
      ->needs(a);
  command->add_option("--color", options->colour, "Whether to colour the lines; auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->callback([&context, options] { RunDiff(context, *options); });
}

}  // namespace evo
