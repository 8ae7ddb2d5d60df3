#include "cli/console_observer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <utility>
#include <vector>

#include "cli/describe.h"
#include "cli/print.h"
#include "cli/stored_options.h"
#include "cli/table.h"
#include "engine/evolution_settings.h"
#include "engine/trial_runner.h"
#include "evaluator/device/device_policy.h"

namespace evo {
namespace {

constexpr std::size_t kReasonWidth = 300;
// Columns from which on there is a second live line: there the first one has room for all of its parts.
constexpr std::size_t kWide = 110;

std::string FormatSpeedup(double baseline_ns, double ns) {
  return std::isnan(baseline_ns) || std::isnan(ns) ? "" : fmt::format(" ({:.2f}x)", baseline_ns / ns);
}

std::string FormatSeconds(double seconds) {
  if (std::isnan(seconds)) return "?";
  const auto whole = static_cast<long>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// "finished", "interrupted", "time limit reached"; and why, if there is more to say.
std::string Ending(RunStatus status, const std::string& ended_by) {
  const bool limit = ended_by.starts_with("time limit");
  if (limit) return "time limit reached";
  const std::string ending = status == RunStatus::kFinished ? "finished" : "interrupted";
  return ended_by.empty() ? ending : fmt::format("{} ({})", ending, ended_by);
}

// Of a generation.
std::string ChildrenText(const RunRecord& run) {
  const StoredOptions options = ReadableOptions(run).value_or(StoredOptions());
  if (!options.early_children || *options.early_children >= run.children) return fmt::format("{} children", run.children);
  return fmt::format("{} children, {} from candidate {} on", *options.early_children, run.children,
                     options.early_candidates.value_or(EvolutionSettings().early_candidates));
}

}  // namespace

std::string FormatDuration(double nanoseconds) {
  if (std::isnan(nanoseconds)) return "-";
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.3g} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  return fmt::format("{:.3g} s", nanoseconds / 1e9);
}

ConsoleObserver::ConsoleObserver(std::FILE* out, int evaluations, Workers workers)
    : out_(out), evaluations_(evaluations), workers_(std::move(workers)), terminal_(::isatty(::fileno(out)) != 0) {}

std::string ProgressLine(const Progress& progress, std::size_t width) {
  const double share = progress.evaluated == 0 ? 0 : 100.0 * progress.valid / progress.evaluated;
  const bool counts = progress.evaluations > 0;
  const bool open_end = counts || progress.generations >= kUnlimitedGenerations;
  struct Part {
    std::string text;
    int dropped;  // in this order where there is no room; 0: never
  };
  std::vector<Part> parts;
  parts.push_back({open_end ? fmt::format("generation {}", progress.generation)
                            : fmt::format("generation {}/{}", progress.generation, progress.generations),
                   0});
  parts.push_back({counts ? fmt::format("  evaluated {}/{}", progress.evaluated, progress.evaluations)
                          : fmt::format("  evaluated {}", progress.evaluated),
                   4});
  parts.push_back({fmt::format("  valid {:.0f}%", share), 3});
  if (progress.best != 0) {
    parts.push_back(
        {fmt::format("  best {}{}", FormatDuration(progress.best_ns), FormatSpeedup(progress.baseline_ns, progress.best_ns)), 0});
    parts.push_back({fmt::format(" {} #{}", progress.best_template, progress.best), 2});
  }
  parts.push_back({fmt::format("  {:.1f}/s", progress.candidates_per_second), 1});
  if (!std::isnan(progress.seconds_left)) parts.push_back({fmt::format("  {} left", FormatSeconds(progress.seconds_left)), 0});
  std::string line;
  for (int dropped = 0; dropped <= 4; ++dropped) {
    line.clear();
    for (const Part& part : parts) line += part.dropped == 0 || part.dropped > dropped ? CleanedLine(part.text) : "";
    if (line.size() <= width) return line;
  }
  return line.substr(0, width);
}

std::string DetailLine(const std::string& workers, const LatestImprovement& improvement, double seconds, std::size_t width) {
  const std::string busy = CleanedLine(workers);
  std::string last;
  if (improvement.candidate != 0) {
    last = CleanedLine(fmt::format("last improvement #{} by {}, {:.1f}% faster, {} ago", improvement.candidate, improvement.op,
                                   100 * (improvement.gain - 1), FormatSeconds(seconds - improvement.at_seconds)));
  }
  const std::string line = busy.empty() || last.empty() ? busy + last : busy + "  " + last;
  if (line.size() <= width) return line;
  return busy.size() <= width ? busy : "";
}

void ConsoleObserver::OnStarted(const RunRecord& run, bool resumed) {
  std::string names;
  for (const TemplateText& text : run.templates) names += (names.empty() ? "" : ", ") + text.name;
  Print(out_, "run {}{}: task {} on {} ({}{}), L2 {}, seed {}\n", run.id, resumed ? " resumed" : "", run.task, run.device_name,
        run.device, run.arch.empty() ? "" : ", " + run.arch, run.l2, run.seed);
  Print(out_, "templates {}; baseline {}; {} of {}, population {}{}\n", names, run.baseline,
        run.generations < kUnlimitedGenerations ? fmt::format("{} generations", run.generations) : "generations",
        ChildrenText(run), run.population, evaluations_ > 0 ? fmt::format("; at most {} evaluations", evaluations_) : "");
  if (PolicyOf(run.device).cases == CaseScale::kEmulated) Print(out_, "{}\n", kEmulatedRemark);
  std::fflush(out_);
}

void ConsoleObserver::OnEvaluated(const Candidate& candidate, const Evaluation& evaluation, const Progress& progress) {
  ++outcomes_[std::string(ToString(evaluation.outcome))];
  // It does not take part in the search, which nothing else would say.
  if (progress.generation == 0 && candidate.generation == 0 && evaluation.outcome != Outcome::kOk) {
    EndLive();
    PrintWrapped(
        out_, fmt::format("template {} fails at its defaults: {}: {}: {}", candidate.genome.template_name,
                          ToString(evaluation.outcome), ToString(evaluation.stage), OneLine(evaluation.message, kReasonWidth)));
  }
  // Trials of minimisation count to the last generation.
  if (under_way_.generation != progress.generation) under_way_ = {progress.generation};
  ++under_way_.evaluated;
  if (evaluation.outcome == Outcome::kOk && !(under_way_.ns <= evaluation.score_ns)) {
    under_way_.fastest = candidate.id;
    under_way_.ns = evaluation.score_ns;
  }
  const Progress before = last_;
  const double baseline_ns = last_.baseline_ns;
  last_ = progress;
  if (progress.generation == 0 && std::isnan(baseline_ns)) last_.baseline_ns = baseline_ns;
  if (before.best != 0 && progress.best == candidate.id && progress.best_ns < before.best_ns)
    improvement_ = {candidate.id, candidate.op, before.best_ns / progress.best_ns, progress.seconds};
  KeepFastest(before);
  if (terminal_) Show(false);
}

void ConsoleObserver::OnGeneration(const Progress& progress) {
  const Progress before = last_;
  under_way_ = {};
  last_ = progress;
  KeepFastest(before);
  Show(true);
}

// The champion changes only by more than the noise. What is shown is the fastest measurement so far.
void ConsoleObserver::KeepFastest(const Progress& before) {
  if (before.best == 0 || !(before.best_ns < last_.best_ns)) return;
  last_.best = before.best;
  last_.best_ns = before.best_ns;
  last_.best_template = before.best_template;
}

void ConsoleObserver::Show(bool end_of_generation) {
  if (terminal_) {
    ShowLive();
  } else if (end_of_generation) {
    Print(out_, "{}\n", ProgressLine(last_, std::string::npos));
  }
  std::fflush(out_);
}

void ConsoleObserver::ShowLive() {
  const std::size_t width = LineWidth(out_) - 1;
  std::vector<std::string> lines{ProgressLine(last_, width)};
  if (width >= kWide) {
    std::string details = DetailLine(workers_ ? workers_() : "", improvement_, last_.seconds, width);
    if (!details.empty()) lines.push_back(std::move(details));
  }
  PrintLive(out_, lines);
  live_ = true;
}

// What the live line said last stays, above what comes.
void ConsoleObserver::EndLive() {
  if (live_) Print(out_, "{}\n", ProgressLine(last_, LineWidth(out_) - 1));
  live_ = false;
}

void ConsoleObserver::OnChampion(const Candidate& champion, const ChampionCheck& check) {
  EndLive();
  if (check.outcome == Outcome::kOk) {
    std::string tools;
    for (const ToolResult& tool : check.tools) tools += fmt::format(", {} {}", tool.tool, tool.result);
    const bool minimised = champion.op == kMinimise;
    if (minimised) Print(out_, "#{} minimised to {} edits; ", champion.parents.front(), champion.genome.edits.size());
    Print(out_, "{} #{} holds on {} held-out cases{}; {:.2f} times the speed of the baseline in interleaved timing{}\n",
          minimised ? "candidate" : "champion", champion.id, check.held_out_cases.size(), tools, check.speedup,
          Describe(check.slowest));
    if (!check.not_counted.empty()) PrintWrapped(out_, fmt::format("without hardware counters: {}", check.not_counted));
  } else {
    if (last_.best == champion.id) last_.best = 0;
    Print(out_, "#{} does not hold on held-out cases ({}: {}); {}\n", champion.id, ToString(check.outcome), check.message,
          champion.op == kMinimise ? "the champion keeps its edits" : "the next best is tried");
  }
  std::fflush(out_);
}

// A generation is stored as a whole or not at all.
void ConsoleObserver::SayWhatWasDropped(const Progress& progress) const {
  if (under_way_.evaluated == 0) return;
  if (progress.evaluated > 0 && progress.generation >= under_way_.generation) return;
  std::string fastest;
  if (under_way_.fastest != 0)
    fastest = fmt::format(", the fastest of them {} (#{})", FormatDuration(under_way_.ns), under_way_.fastest);
  PrintWrapped(out_, fmt::format("generation {} was not finished: its {} evaluations are not kept{}; `--resume` makes them again",
                                 under_way_.generation, under_way_.evaluated, fastest));
}

void ConsoleObserver::OnFinished(RunStatus status, const Progress& progress) {
  EndLive();
  SayWhatWasDropped(progress);
  std::string outcomes;
  for (const auto& [name, count] : outcomes_) outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, name);
  Print(out_, "{} after {} candidates in {}: {}; the champion changed {} times\n", Ending(status, progress.ended_by),
        progress.evaluated, FormatSeconds(progress.seconds), outcomes.empty() ? "nothing evaluated" : outcomes,
        progress.champion_changes);
  std::fflush(out_);
}

}  // namespace evo
