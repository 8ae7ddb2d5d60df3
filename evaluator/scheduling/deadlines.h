#pragma once

#include <chrono>
#include <string>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "evaluator/device/device_policy.h"

namespace evo {

// The longest that a compile may take. ptxas has been seen to take 15 s over a kernel with thousands of unrolled steps, and
// compile workers may stand still while a kernel is timed.
inline constexpr std::chrono::milliseconds kCompileDeadline{40'000};

// How long stages may take. Deadlines get shorter once the templates at their defaults (generation 0) have shown how long theirs
// take. Not thread-safe: the owner locks.
class Deadlines {
 public:
  // `run_deadline`: the longest that a stage on a run worker may take.
  Deadlines(const DevicePolicy& policy, std::chrono::milliseconds run_deadline) : policy_(policy), run_deadline_(run_deadline) {}

  void Learn(const Candidate& candidate, const Evaluation& evaluation);

  std::chrono::milliseconds Compile() const;
  // Where they come from, for messages: "4 times what the slowest template took, 0.4 s at least".
  std::string CompileRule() const;
  std::string RunRule(int generation) const;
  static std::string ChampionRule();
  // Of each stage of checking and timing a candidate of that generation.
  std::chrono::milliseconds Run(int generation) const;
  // Of each stage of a champion check but those that have deadlines of their own.
  std::chrono::milliseconds Champion() const;

 private:
  std::chrono::milliseconds RunStage(const DevicePolicy::DeadlineFactor& factor) const;

  DevicePolicy policy_;
  std::chrono::milliseconds run_deadline_;
  double baseline_compile_ms_ = 0;
  double baseline_stage_ms_ = 0;  // the longest
};

}  // namespace evo
