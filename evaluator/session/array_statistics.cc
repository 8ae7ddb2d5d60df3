#include "evaluator/session/array_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel_ranges.h"

namespace evo {
namespace {

template <typename Work>
double Sum(std::size_t count, const Work& work) {
  const auto sums = OfRanges<double>(count, work);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <typename Work>
double Most(std::size_t count, const Work& work) {
  const auto parts = OfRanges<double>(count, work);
  return std::accumulate(parts.begin(), parts.end(), 0.0, [](double a, double b) { return std::max(a, b); });
}

}  // namespace

double RootMeanSquare(const std::vector<double>& values) {
  const double squares = Sum(values.size(), [&](const Range& range) {
    double sum = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) sum += std::isfinite(values[i]) ? values[i] * values[i] : 0;
    return sum;
  });
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
}

double Largest(const std::vector<double>& values) {
  return Most(values.size(), [&](const Range& range) {
    double largest = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) largest = std::max(largest, std::abs(values[i]));
    return largest;
  });
}

double LargestFinite(const std::vector<double>& values) {
  return Most(values.size(), [&](const Range& range) {
    double largest = 0;
    for (std::size_t i = range.begin; i < range.end; ++i)
      largest = std::isfinite(values[i]) ? std::max(largest, std::abs(values[i])) : largest;
    return largest;
  });
}

bool AllFinite(const std::vector<double>& values) {
  return Sum(values.size(), [&](const Range& range) {
           return static_cast<double>(std::count_if(values.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                                    values.begin() + static_cast<std::ptrdiff_t>(range.end),
                                                    [](double value) { return !std::isfinite(value); }));
         }) == 0;
}

std::vector<double> Minus(std::vector<double> values, const std::vector<double>& others) {
  ForRanges(values.size(), [&](const Range& range) {
    for (std::size_t i = range.begin; i < range.end; ++i) values[i] -= others[i];
  });
  return values;
}

}  // namespace evo
