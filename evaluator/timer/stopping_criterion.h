#pragma once

#include <cstdint>
#include <vector>

#include "evaluator/device/device_policy.h"

namespace evo {

// When one case of one candidate is measured well enough. The sampling plan says so for a candidate that may win; a candidate
// that cannot win the race against the fastest needs fewer samples.
struct StoppingCriterion : SamplingPlan {
  // The candidate is pruned when its fastest sample is beyond this many ticks after `prune_samples`. 0: never.
  double prune_ticks = 0;
  int prune_samples = 5;
  // Beyond this many times as many ticks, two samples are enough to prune.
  static constexpr double kHopelessFactor = 4;
  static constexpr int kHopelessSamples = 2;
  // Beyond this many times as many, one is.
  static constexpr double kFarBeyondFactor = 16;
  // The candidate took that long when it was checked: its first batch has no more than those two samples, or that one.
  bool looks_hopeless = false;
  bool looks_far_beyond = false;
  // The candidate took `long_seconds` for a few launches when it was checked: batches are short.
  bool looks_long = false;
  // When even the lower end of the confidence interval is beyond this many ticks, the race is decided. 0: never.
  double decided_ticks = 0;

  bool Prunes(const std::vector<std::uint32_t>& ticks) const;
  bool Enough(const std::vector<std::uint32_t>& ticks, double tick_ns) const;
};

}  // namespace evo
