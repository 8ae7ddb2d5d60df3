#include "cli/console_observer.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>

#include "cli/describe.h"
#include "cli/print.h"
#include "engine/trial_runner.h"

namespace evo {
namespace {

std::string FormatSpeedup(double baseline_ns, double ns) {
  return std::isnan(baseline_ns) || std::isnan(ns) ? "" : fmt::format(" ({:.2f}x)", baseline_ns / ns);
}

std::string FormatSeconds(double seconds) {
  if (std::isnan(seconds)) return "?";
  const auto whole = static_cast<long>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string Fitted(std::string line, int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && line.size() >= size.ws_col) line.resize(size.ws_col - 1);
  return line;
}

}  // namespace

std::string FormatDuration(double nanoseconds) {
  if (std::isnan(nanoseconds)) return "-";
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.3g} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  return fmt::format("{:.3g} s", nanoseconds / 1e9);
}

ConsoleObserver::ConsoleObserver(std::FILE* out, int evaluations)
    : out_(out), evaluations_(evaluations), terminal_(::isatty(::fileno(out)) != 0) {}

void ConsoleObserver::OnStarted(const RunRecord& run, bool resumed) {
  std::string names;
  for (const TemplateText& text : run.templates) names += (names.empty() ? "" : ", ") + text.name;
  Print(out_, "run {}{}: task {} on {} ({}{}), L2 {}, seed {}\n", run.id, resumed ? " resumed" : "", run.task, run.device_name,
        run.device, run.arch.empty() ? "" : ", " + run.arch, run.l2, run.seed);
  Print(out_, "templates {}; baseline {}; {} of {} children, population {}{}\n", names, run.baseline,
        run.generations < kUnlimitedGenerations ? fmt::format("{} generations", run.generations) : "generations", run.children,
        run.population, evaluations_ > 0 ? fmt::format("; at most {} evaluations", evaluations_) : "");
  std::fflush(out_);
}

void ConsoleObserver::OnEvaluated(const Candidate&, const Evaluation& evaluation, const Progress& progress) {
  ++outcomes_[std::string(ToString(evaluation.outcome))];
  last_.evaluated = progress.evaluated;
  last_.valid = progress.valid;
  last_.generation = progress.generation;
  last_.generations = progress.generations;
  last_.evaluations = progress.evaluations;
  last_.candidates_per_second = progress.candidates_per_second;
  last_.best_ns = progress.best_ns;
  last_.best_template = progress.best_template;
  last_.best = progress.best;
  if (progress.generation > 0 || !std::isnan(last_.baseline_ns)) last_.baseline_ns = progress.baseline_ns;
  if (terminal_) Show(last_, false);
}

void ConsoleObserver::OnGeneration(const Progress& progress) {
  last_ = progress;
  Show(progress, true);
}

void ConsoleObserver::Show(const Progress& progress, bool end_of_generation) {
  const double share = progress.evaluated == 0 ? 0 : 100.0 * progress.valid / progress.evaluated;
  std::string line = progress.evaluations > 0 ? fmt::format("generation {}  evaluated {}/{}  valid {:.0f}%", progress.generation,
                                                            progress.evaluated, progress.evaluations, share)
                                              : fmt::format("generation {}/{}  evaluated {}  valid {:.0f}%", progress.generation,
                                                            progress.generations, progress.evaluated, share);
  if (progress.best != 0) {
    line += fmt::format("  best {}{} {} #{}", FormatDuration(progress.best_ns),
                        FormatSpeedup(progress.baseline_ns, progress.best_ns), progress.best_template, progress.best);
  }
  line += fmt::format("  {:.1f}/s", progress.candidates_per_second);
  if (!std::isnan(progress.seconds_left)) line += fmt::format("  {} left", FormatSeconds(progress.seconds_left));
  if (terminal_) {
    PrintRaw(out_, "\r\x1b[K" + Fitted(CleanedLine(line), ::fileno(out_)));
    live_ = true;
  } else if (end_of_generation) {
    Print(out_, "{}\n", line);
  }
  std::fflush(out_);
}

void ConsoleObserver::EndLive() {
  if (live_) Print(out_, "\n");
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
  } else {
    Print(out_, "#{} does not hold on held-out cases ({}: {}); {}\n", champion.id, ToString(check.outcome), check.message,
          champion.op == kMinimise ? "the champion keeps its edits" : "the next best is tried");
  }
  std::fflush(out_);
}

void ConsoleObserver::OnFinished(RunStatus status, const Progress& progress) {
  EndLive();
  std::string outcomes;
  for (const auto& [name, count] : outcomes_) outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, name);
  Print(out_, "{} after {} candidates in {}: {}; the champion changed {} times\n",
        status == RunStatus::kFinished ? "finished" : "interrupted", progress.evaluated, FormatSeconds(progress.seconds),
        outcomes.empty() ? "nothing evaluated" : outcomes, progress.champion_changes);
  std::fflush(out_);
}

}  // namespace evo
