#include "evaluator/gate/comparison.h"

#include <fmt/format.h>

#include <cmath>

namespace evo {
namespace {

std::string FirstNotFinite(const std::vector<double>& output, const std::vector<double>& reference, const std::string& name) {
  std::size_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool same = std::isfinite(reference[i]) ? std::isfinite(output[i])
                                                  : output[i] == reference[i] || (std::isnan(output[i]) && std::isnan(reference[i]));
    if (!same && count++ == 0) first = i;
  }
  if (count == 0) return {};
  return fmt::format("{}: {} of {} elements are not finite or were never written, the first at {}", name, count, output.size(), first);
}

Difference CompareExactly(const std::vector<double>& output, const std::vector<double>& reference, const std::string& name) {
  Difference difference;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (output[i] != reference[i]) {
      difference.message = fmt::format("{}[{}] is {}, not {}", name, i, output[i], reference[i]);
      return difference;
    }
  }
  difference.acceptable = true;
  return difference;
}

}  // namespace

Difference Compare(const std::vector<double>& output, const std::vector<double>& reference, const OutputCheck& check,
                   const std::string& name) {
  if (check.kind == OutputCheck::Kind::kExact) return CompareExactly(output, reference, name);
  Difference difference;
  difference.message = FirstNotFinite(output, reference, name);
  if (!difference.message.empty()) {
    difference.l2 = difference.max = kNoValue;
    return difference;
  }
  double squares = 0;
  double reference_squares = 0;
  double largest = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!std::isfinite(reference[i])) continue;
    const double error = std::abs(output[i] - reference[i]);
    squares += error * error;
    reference_squares += reference[i] * reference[i];
    if (error > largest) {
      largest = error;
      worst = i;
    }
  }
  const double rms = std::sqrt(reference_squares / static_cast<double>(output.size()));
  // An all-zero reference has no scale: only zeros are right.
  difference.l2 = squares == 0 ? 0 : std::sqrt(squares / reference_squares);
  difference.max = largest == 0 ? 0 : largest / rms;
  difference.acceptable = difference.l2 <= check.l2 && difference.max <= check.max;
  if (!difference.acceptable) {
    difference.message = fmt::format("{}: relative L2 error {:.2e} (allowed {:.0e}), largest error {:.2e} of the rms (allowed {:.0e}), at {}: {:.6g}, not {:.6g}",
                                     name, difference.l2, check.l2, difference.max, check.max, worst, output[worst], reference[worst]);
  }
  return difference;
}

}  // namespace evo
