#include "evaluator/scheduling/champion_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/part_times.h"

namespace evo {
namespace {

// An error that a tool reports fails the check.
void JudgeTools(ChampionCheck& check) {
  const auto found = std::find_if(check.tools.begin(), check.tools.end(), FoundFault);
  if (found == check.tools.end()) return;
  const bool race = found->tool.starts_with("racecheck") || found->tool.starts_with("synccheck") ||
                    found->message.find("race in ") != std::string::npos;  // as the emulation says it
  check.outcome = found->result == "crash" ? Outcome::kCrash : race ? Outcome::kNondeterministic : Outcome::kCheating;
  check.message = fmt::format("{}: {}", found->tool, found->message);
}

// What the others, which ran beside them, waited for: " (longest: racecheck at m4096 4.9 s, memcheck 2.0 s)".
std::string Longest(std::vector<ToolRun> runs) {
  constexpr std::size_t kShown = 3;
  std::stable_sort(runs.begin(), runs.end(), [](const ToolRun& a, const ToolRun& b) { return a.seconds > b.seconds; });
  runs.resize(std::min(kShown, runs.size()));
  std::string text;
  for (const ToolRun& run : runs) AddParts(text, Part(run.result.tool, run.seconds));
  return text.empty() ? "" : fmt::format(" (longest: {})", text);
}

}  // namespace

void AddToolRuns(ChampionTools& tools, const AttachedProgram& program, const std::string& text, const Seeds& seeds,
                 Meanwhile<ToolRun>& blocks, ChampionCheck& check, const std::stop_token& stop) {
  PartTimes times;
  times.Begin("counters");
  CountedEvents counted = tools.CountEvents(program, text, seeds, stop);
  times.Begin("tools");
  std::vector<ToolRun> runs = tools.RunSanitizer(program, seeds, stop);
  runs.insert(runs.begin(), blocks.Get());
  if (stop.stop_requested()) return;
  check.counters = std::move(counted.counters);
  check.stalls = std::move(counted.stalls);
  check.not_counted = std::move(counted.not_counted);
  const std::string took = times.Text();
  AddParts(check.took, took.empty() ? took : took + Longest(runs));
  for (ToolRun& run : runs) check.tools.push_back(std::move(run.result));
  JudgeTools(check);
}

}  // namespace evo
