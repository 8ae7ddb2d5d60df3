#include "evaluator/timer/fresh_comparison.h"

#include <fmt/format.h>

#include <cmath>

#include "evaluator/timer/statistics.h"

namespace evo {
namespace {

constexpr double kMicrosecond = 1e3;

double Squared(double x) { return x * x; }

}  // namespace

FreshComparison::FreshComparison(const Pair& repeated, const Pair& fresh)
    : ratio(fresh.first.median_ns / repeated.first.median_ns / (fresh.second.median_ns / repeated.second.median_ns)) {
  double variance = 0;
  for (const Pair* pair : {&repeated, &fresh})
    variance += Squared(RelativeHalfWidth(pair->first.samples)) + Squared(RelativeHalfWidth(pair->second.samples));
  at_least = ratio / (1 + 2 * std::sqrt(variance));
}

std::string Describe(const FreshComparison::Pair& repeated, const FreshComparison::Pair& fresh) {
  return fmt::format(
      "{:.2f} us on data that repeats, {:.2f} us on data that it has not seen (the baseline: {:.2f} and {:.2f} us)",
      repeated.first.median_ns / kMicrosecond, fresh.first.median_ns / kMicrosecond, repeated.second.median_ns / kMicrosecond,
      fresh.second.median_ns / kMicrosecond);
}

}  // namespace evo
