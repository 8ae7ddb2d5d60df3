#include "evaluator/timer/statistics.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// An order statistic of sorted, grouped data: equal samples are spread evenly over their tick.
double WithinTick(const std::vector<std::uint32_t>& sorted, std::size_t rank) {
  const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), sorted[rank]);
  const double below = static_cast<double>(rank) - static_cast<double>(low - sorted.begin());
  return sorted[rank] - 0.5 + (below + 0.5) / static_cast<double>(high - low);
}

}  // namespace

double InterpolatedMedian(std::vector<std::uint32_t> ticks) {
  std::sort(ticks.begin(), ticks.end());
  const std::size_t n = ticks.size();
  const std::uint32_t middle = ticks[n / 2];
  // With an even count whose two middle values differ, the median lies between the groups.
  if (n % 2 == 0 && ticks[n / 2 - 1] != middle) return (static_cast<double>(ticks[n / 2 - 1]) + middle) / 2;
  const auto [low, high] = std::equal_range(ticks.begin(), ticks.end(), middle);
  const auto below = static_cast<double>(low - ticks.begin());
  const auto equal = static_cast<double>(high - low);
  return middle - 0.5 + (static_cast<double>(n) / 2 - below) / equal;
}

double Quantile(std::vector<std::uint32_t> ticks, double q) {
  std::sort(ticks.begin(), ticks.end());
  const double position = q * static_cast<double>(ticks.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, ticks.size() - 1);
  return ticks[low] + (position - static_cast<double>(low)) * (static_cast<double>(ticks[high]) - ticks[low]);
}

double RelativeHalfWidth(std::vector<std::uint32_t> ticks) {
  constexpr std::size_t kFewest = 6;  // 2^-5 is the first two-sided miss under 5%
  constexpr double kNormal95 = 1.96;
  const std::size_t n = ticks.size();
  if (n < kFewest) return 1;
  std::sort(ticks.begin(), ticks.end());
  const double centre = static_cast<double>(n) / 2;
  const double reach = kNormal95 / 2 * std::sqrt(static_cast<double>(n));
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(centre - reach)));
  const auto high = static_cast<std::size_t>(std::min(static_cast<double>(n - 1), std::ceil(centre + reach)));
  const double median = InterpolatedMedian(ticks);
  if (median <= 0) return 1;
  return (WithinTick(ticks, high) - WithinTick(ticks, low)) / 2 / median;
}

int CountOutliers(const std::vector<std::uint32_t>& ticks) {
  constexpr double kDeviations = 5;
  constexpr double kNormal = 1.4826;
  constexpr double kLeastTicks = 2;
  const double median = InterpolatedMedian(ticks);
  std::vector<double> away;
  for (const std::uint32_t tick : ticks) away.push_back(std::abs(tick - median));
  const auto middle = away.begin() + static_cast<std::ptrdiff_t>(away.size() / 2);
  std::nth_element(away.begin(), middle, away.end());
  const double bound = median + std::max(kLeastTicks, kDeviations * kNormal * *middle);
  return static_cast<int>(std::count_if(ticks.begin(), ticks.end(), [&](std::uint32_t tick) { return tick > bound; }));
}

}  // namespace evo
