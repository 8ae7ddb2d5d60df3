#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/shown_candidate.h"
#include "cli/stored_run.h"
#include "cli/story_tools.h"
#include "cli/table.h"
#include "cli/terminal.h"

namespace evo {
namespace {

struct LineageOptions : HistoryOptions {
  std::optional<CandidateId> id;
  bool brief = false;
  bool no_diff = false;
};

// A story is for reading: wider lines are not.
constexpr std::size_t kStoryWidth = 100;
// Changed lines of a step; `evo diff` shows all.
constexpr int kMostLines = 16;
constexpr const char* kIndent = "      ";

nlohmann::ordered_json ToJson(const StoryStep& step) {
  const auto known = [](int value) { return value < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(value); };
  return {{"id", step.candidate},
          {"generation", step.generation},
          {"parents", step.parents},
          {"operator", step.op},
          {"change", step.change},
          {"outcome", ToString(step.outcome)},
          {"score_ns", step.score_ns},
          {"speedup", step.speedup},
          {"gain", step.gain},
          {"description", step.description},
          {"unproven", step.unproven},
          {"registers", known(step.facts.registers)},
          {"spill_bytes", known(step.facts.spill_bytes)},
          {"occupancy", step.facts.occupancy},
          {"bottleneck", step.bottleneck},
          {"evidence", step.evidence}};
}

void PrintBrief(std::FILE* out, const Story& story) {
  Table table({">candidate", ">generation", ">us", ">speed-up", "operator", "change"});
  for (const StoryStep& step : story.steps) {
    table.Add({std::to_string(step.candidate), std::to_string(step.generation), Microseconds(step.score_ns), Ratio(step.speedup),
               step.op, step.change});
  }
  table.Print(out);
}

// "registers 32 -> 40"; one value where it did not change; empty if it is not known.
std::string Fact(const char* name, const std::string& before, const std::string& after) {
  if (after.empty()) return "";
  if (before.empty() || before == after) return fmt::format("{} {}", name, after);
  return fmt::format("{} {} -> {}", name, before, after);
}

std::string Facts(const StoryStep* before, const StoryStep& step) {
  const auto integer = [](int value) { return value < 0 ? std::string() : std::to_string(value); };
  const auto share = [](double value) { return std::isnan(value) ? std::string() : fmt::format("{:.0f}%", 100 * value); };
  const KernelFacts none;
  const KernelFacts& old = before == nullptr ? none : before->facts;
  std::vector<std::string> facts;
  for (std::string fact : {Fact("registers", integer(old.registers), integer(step.facts.registers)),
                           Fact("spilled bytes", integer(old.spill_bytes), integer(step.facts.spill_bytes)),
                           Fact("occupancy", share(old.occupancy), share(step.facts.occupancy)),
                           Fact("limited by", before == nullptr ? "" : before->bottleneck, step.bottleneck)}) {
    if (!fact.empty()) facts.push_back(std::move(fact));
  }
  return fmt::format("{}", fmt::join(facts, ", "));
}

void PrintIndented(std::FILE* out, const std::string& text, std::size_t width) {
  if (text.empty()) return;
  for (const std::string& line : WrappedLines(CleanedLine(text), width - std::string_view(kIndent).size()))
    PrintRaw(out, kIndent + line + "\n");
}

// The lines that a unified diff removes and adds, cleaned; hunks are apart by a blank one.
std::vector<std::string> ChangedLines(const std::string& difference) {
  std::vector<std::string> changed;
  std::istringstream lines(difference);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("--- ") || line.starts_with("+++ ")) continue;
    if (line.starts_with("@@") && !changed.empty() && !changed.back().empty()) changed.emplace_back();
    if (line.starts_with("-") || line.starts_with("+")) changed.push_back(Cleaned(line));
  }
  return changed;
}

void PrintChange(std::FILE* out, const Story& story, const StoryStep& step, std::size_t width) {
  if (!step.no_difference.empty()) return PrintIndented(out, "changed lines are not known: " + step.no_difference, width);
  const std::vector<std::string> lines = ChangedLines(step.difference);
  const bool fits = IsTerminal(out);
  int shown = 0;
  for (const std::string& line : lines) {
    if (++shown > kMostLines) break;
    const std::string text = fits ? Shortened(line, width - std::string_view(kIndent).size()) : line;
    PrintRaw(out, kIndent + InColour(out, line.starts_with("-") ? Colour::kRed : Colour::kGreen, text) + "\n");
  }
  if (const auto more = static_cast<int>(lines.size()) - kMostLines; more > 0) {
    Print(out, "{}... {} more lines: `evo diff {} {} --run {}`\n", kIndent, more, step.parents.front(), step.candidate,
          story.run);
  }
}

void PrintStory(std::FILE* out, const Story& story, std::size_t width) {
  const StoryStep& last = story.steps.back();
  const auto wrapped = [&](const std::string& text) {
    for (const std::string& line : WrappedLines(CleanedLine(text), width)) PrintRaw(out, line + "\n");
  };
  wrapped(fmt::format("run {}, task {} on {}, L2 {}: candidate {} is {} times as fast as the baseline {} ({} us, not {} us)",
                      story.run, story.task, story.device_name, story.l2, story.champion, Ratio(last.speedup), story.baseline,
                      Microseconds(last.score_ns), Microseconds(story.baseline_ns)));
  wrapped(story.unproven.empty() ? "every edit in it is proven"
                                 : fmt::format("edits in it that promise nothing: {}", fmt::join(story.unproven, ", ")));
  const StoryStep* before = nullptr;
  for (const StoryStep& step : story.steps) {
    PrintRaw(out, "\n");
    const std::string result = step.outcome == Outcome::kOk ? fmt::format("{} us, {} times the baseline's speed",
                                                                          Microseconds(step.score_ns), Ratio(step.speedup))
                                                            : std::string(ToString(step.outcome));
    wrapped(
        fmt::format("#{} {} (generation {}): {}{}", step.candidate, step.op, step.generation, result, DescribeGain(step.gain)));
    if (!step.description.empty()) PrintIndented(out, step.description, width);
    PrintIndented(out, step.change, width);
    PrintIndented(out, Facts(before, step), width);
    if (!step.unproven.empty())
      PrintIndented(out, fmt::format("UNPROVEN: {} promises nothing", fmt::join(step.unproven, ", ")), width);
    if (before != nullptr) PrintChange(out, story, step, width);
    before = &step;
  }
}

void RunLineage(CommandContext& context, const LineageOptions& options) {
  const History history = OpenForShowing(context, options);
  const RunId run = history.FindRun(options.run).record.id;
  const CandidateId id = options.id ? *options.id : FindShownCandidate(history, run, {}).candidate.id;
  const bool rendered = !options.json && !options.brief && !options.no_diff && context.make_renderer;
  // From the scores of the search for every step, so that steps compare; `evo best` prints the re-timed speed-up.
  const Story story = TellStory(history, run, id, MakeStoryTools(rendered ? context.make_renderer() : SourceRenderer()));
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const StoryStep& step : story.steps) json.push_back(ToJson(step));
    PrintLines(context.out, Dump(json));
  } else if (options.brief) {
    PrintBrief(context.out, story);
  } else {
    const std::size_t width = std::min(LineWidth(context.out), kStoryWidth);
    const Pager pager(context.out);
    PrintStory(context.out, story, width);
  }
}

}  // namespace

void AddLineage(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<LineageOptions>();
  CLI::App* command = app.add_subcommand("lineage", "Tell the way from a template to a candidate, step by step");
  AddHistoryOptions(*command, context, *options);
  command->add_option("ID", options->id, "Candidate (default: the best)");
  command->add_flag("--brief", options->brief, "One line for each step");
  command->add_flag("--no-diff", options->no_diff, "Without the lines that changed, which have to be rendered again");
  command->callback([&context, options] { RunLineage(context, *options); });
}

}  // namespace evo
