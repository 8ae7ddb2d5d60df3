#include "evaluator/timer/stopping_criterion.h"

#include <algorithm>
#include <numeric>

#include "evaluator/timer/statistics.h"

namespace evo {

StoppingCriterion StoppingCriterion::ForCuda() {
  // Eight samples are the fewest whose order statistics give a 95% interval that leaves out an outlier on either side.
  return {.min_samples = 8, .max_samples = 300, .relative_half_width = 0.005, .max_seconds = 0.05};
}

StoppingCriterion StoppingCriterion::ForIdleCuda() {
  // Ten rounds over the six sets in their eight places, and a fifth of what two processes that time the same kernel may differ
  // by; cold caches need thousands of samples for it.
  return {.min_samples = 8, .max_samples = 2400, .usual_samples = 480, .relative_half_width = 0.001, .max_seconds = 0.05};
}

StoppingCriterion StoppingCriterion::ForCpu() {
  // The rest of the machine disturbs a CPU thread by some percent; seven runs resolve 10%, and most real gains are larger.
  return {.min_samples = 7, .max_samples = 25, .relative_half_width = 0.02, .max_seconds = 0.25};
}

bool StoppingCriterion::GivesUp(const std::vector<std::uint32_t>& ticks) const {
  const auto count = static_cast<int>(ticks.size());
  if (prune_ticks <= 0 || count < std::min(kHopelessSamples, give_up_samples)) return false;
  const double fastest = *std::min_element(ticks.begin(), ticks.end());
  return fastest > kHopelessFactor * prune_ticks || (count >= give_up_samples && fastest > prune_ticks);
}

bool StoppingCriterion::Enough(const std::vector<std::uint32_t>& ticks, double tick_ns) const {
  const auto count = static_cast<int>(ticks.size());
  if (GivesUp(ticks)) return true;
  if (count < min_samples) return false;
  if (count >= max_samples) return true;
  if (decided_ticks > 0 && InterpolatedMedian(ticks) * (1 - RelativeHalfWidth(ticks)) > decided_ticks) return true;
  const double seconds = std::accumulate(ticks.begin(), ticks.end(), 0.0) * tick_ns * 1e-9;
  if (seconds >= max_seconds) return true;
  return count >= usual_samples && RelativeHalfWidth(ticks) <= relative_half_width;
}

}  // namespace evo
