#include "evaluator/scheduling/deadlines.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

using std::chrono::milliseconds;

// A candidate has this many times what the slowest template took to compile: a generation waits for its last candidate.
constexpr double kCompileDeadlineFactor = 6;
constexpr milliseconds kLeastCompileDeadline{1'200};
// Few candidates become champion candidates: a long wait costs little.
constexpr DevicePolicy::DeadlineFactor kChampionDeadline{20, milliseconds(10'000)};

std::string Rule(double factor, milliseconds least) {
  return fmt::format("{:g} times what the slowest template took, {:g} s at least", factor,
                     static_cast<double>(least.count()) / 1000);
}

milliseconds Times(double factor, double ms) { return milliseconds(static_cast<long>(factor * ms)); }

}  // namespace

void Deadlines::Learn(const Candidate& candidate, const Evaluation& evaluation) {
  if (candidate.generation != 0 || evaluation.outcome != Outcome::kOk) return;
  const StageClocks& clocks = evaluation.clocks;
  baseline_stage_ms_ = std::max({baseline_stage_ms_, clocks.load_ms, clocks.check_ms, clocks.time_ms});
  baseline_compile_ms_ = std::max(baseline_compile_ms_, clocks.compile_ms);
}

milliseconds Deadlines::Compile() const {
  // The time of a compile that was paused says nothing.
  if (policy_.pauses_compilers || baseline_compile_ms_ == 0) return kCompileDeadline;
  return std::clamp(Times(kCompileDeadlineFactor, baseline_compile_ms_), kLeastCompileDeadline, kCompileDeadline);
}

std::string Deadlines::CompileRule() const {
  if (policy_.pauses_compilers || baseline_compile_ms_ == 0) return "the most that a compiler gets";
  return Rule(kCompileDeadlineFactor, kLeastCompileDeadline);
}

std::string Deadlines::RunRule(int generation) const {
  if (generation == 0 || baseline_stage_ms_ == 0) return "the most that a stage may take; give the task smaller sizes";
  return Rule(policy_.candidate_deadline.of_baseline, policy_.candidate_deadline.least);
}

std::string Deadlines::ChampionRule() { return Rule(kChampionDeadline.of_baseline, kChampionDeadline.least); }

milliseconds Deadlines::Run(int generation) const {
  // The first template to finish does not say how long the others may take.
  return generation == 0 ? run_deadline_ : RunStage(policy_.candidate_deadline);
}

milliseconds Deadlines::Champion() const { return RunStage(kChampionDeadline); }

milliseconds Deadlines::RunStage(const DevicePolicy::DeadlineFactor& factor) const {
  if (baseline_stage_ms_ == 0) return run_deadline_;
  return std::min(run_deadline_, std::max(factor.least, Times(factor.of_baseline, baseline_stage_ms_)));
}

}  // namespace evo
