#include "kernel_templates/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace evo {
namespace {

constexpr double kFactor = 6;
// The largest of several million normally distributed errors is 5.5 times their rms.
constexpr double kLeastPeak = 6;

double UnitRoundOff(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return std::ldexp(1, -53);
    case Dtype::kF32:
      return std::ldexp(1, -24);
    case Dtype::kF16:
      return std::ldexp(1, -11);
    case Dtype::kBF16:
      return std::ldexp(1, -8);
    default:
      return 0;
  }
}

double Positive(const Expression& expression, const Variables& sizes) {
  const double value = expression.Evaluate(sizes).AsReal();
  if (!(value > 0)) throw Error(fmt::format("{} is {}; it must be greater than 0", expression.text(), value));
  return value;
}

}  // namespace

Tolerance DeriveTolerance(const ErrorSources& sources, Dtype output, const Variables& sizes) {
  const auto square = [](double x) { return x * x; };
  double squares = square(UnitRoundOff(output)) / 3;
  for (const Dtype dtype : sources.rounded) squares += square(UnitRoundOff(dtype)) / 3;
  squares += square(UnitRoundOff(sources.accumulator)) * Positive(sources.sum, sizes) / 6;
  squares += square(sources.ulps * 2 * UnitRoundOff(Dtype::kF32));
  const double l2 = kFactor * std::sqrt(squares);
  return {l2, l2 * std::max(kLeastPeak, Positive(sources.peak, sizes))};
}

}  // namespace evo
