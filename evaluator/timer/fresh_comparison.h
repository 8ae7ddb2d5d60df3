#pragma once

#include <string>
#include <utility>

#include "core/evaluation.h"

namespace evo {

// A program and the baseline, timed on contents that repeat and on contents that no launch has seen, interleaved each time.
struct FreshComparison {
  using Pair = std::pair<CaseMeasurement, CaseMeasurement>;
  FreshComparison(const Pair& repeated, const Pair& fresh);

  // Time on fresh contents over time on contents that repeat, relative to the baseline's.
  double ratio = 1;
  // The least that the ratio is, twice the 95% confidence interval of the four medians taken off: an honest program is judged to
  // be slower than it is less than once in ten thousand comparisons.
  double at_least = 1;
  // More than any effect of writing other values of one distribution was seen to have.
  static constexpr double kMost = 1.1;
  bool knows_its_data() const { return at_least > kMost; }
};

// "812.00 us on data that repeats, 27000.00 us on data that it has not seen (the baseline: ...)".
std::string Describe(const FreshComparison::Pair& repeated, const FreshComparison::Pair& fresh);

}  // namespace evo
