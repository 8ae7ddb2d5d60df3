#include "evaluator/timer/stopping_criterion.h"

#include <algorithm>
#include <numeric>

#include "evaluator/timer/statistics.h"

namespace evo {

bool StoppingCriterion::Prunes(const std::vector<std::uint32_t>& ticks) const {
  const auto count = static_cast<int>(ticks.size());
  if (prune_ticks <= 0 || count == 0) return false;
  const double fastest = *std::min_element(ticks.begin(), ticks.end());
  if (fastest > kFarBeyondFactor * prune_ticks) return true;
  if (count < std::min(kHopelessSamples, prune_samples)) return false;
  return fastest > kHopelessFactor * prune_ticks || (count >= prune_samples && fastest > prune_ticks);
}

bool StoppingCriterion::Enough(const std::vector<std::uint32_t>& ticks, double tick_ns) const {
  const auto count = static_cast<int>(ticks.size());
  if (Prunes(ticks)) return true;
  const double seconds = std::accumulate(ticks.begin(), ticks.end(), 0.0) * tick_ns * 1e-9;
  if (long_seconds > 0 && count >= long_samples && seconds >= long_seconds) return true;
  if (count < min_samples) return false;
  if (count >= max_samples) return true;
  if (decided_ticks > 0 && InterpolatedMedian(ticks) * (1 - RelativeHalfWidth(ticks)) > decided_ticks) return true;
  if (seconds >= max_seconds) return true;
  return count >= usual_samples && RelativeHalfWidth(ticks) <= relative_half_width;
}

}  // namespace evo
