#include "engine/champion.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

constexpr double kStandardErrors = 4;
constexpr double kBetweenProcesses = 0.005;
constexpr double kHalfTick = 0.5;
// Distance between the 10% and 90% quantiles of a normal distribution, in sigmas.
constexpr double kQuantileSpread = 2.563;
constexpr double kMedianEfficiency = 1.2533;
// The stopping criterion never stops with fewer samples.
constexpr double kFewestSamples = 5;

// Standard error of the median, relative to the median.
double StandardError(const CaseMeasurement& measured) {
  const double rounding = measured.tick_ns / std::sqrt(12.0);
  const double spread = std::isnan(measured.p90_ns - measured.p10_ns) ? 0 : (measured.p90_ns - measured.p10_ns) / kQuantileSpread;
  const double samples = std::max(kFewestSamples, static_cast<double>(measured.samples.size()));
  return kMedianEfficiency * std::max(spread, rounding) / std::sqrt(samples) / measured.median_ns;
}

}  // namespace

bool Beats(const Evaluation& challenger, const Evaluation& champion) {
  double weights = 0;
  double gain = 0;
  double variance = 0;
  double floor = 0;
  for (std::size_t i = 0; i < std::min(challenger.cases.size(), champion.cases.size()); ++i) {
    const CaseMeasurement& ours = challenger.cases[i];
    const CaseMeasurement& theirs = champion.cases[i];
    if (ours.pruned) return false;
    const double one = StandardError(ours);
    const double other = StandardError(theirs);
    gain += ours.weight * std::log(theirs.median_ns / ours.median_ns);
    variance += ours.weight * ours.weight * (one * one + other * other);
    floor += ours.weight * std::max(kBetweenProcesses, kHalfTick * ours.tick_ns / ours.median_ns);
    weights += ours.weight;
  }
  return weights > 0 && gain > kStandardErrors * std::sqrt(variance) + floor;
}

}  // namespace evo
