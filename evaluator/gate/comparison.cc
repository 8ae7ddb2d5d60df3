#include "evaluator/gate/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace evo {

Difference Judge(const InspectionResult& seen, std::uint64_t elements, const OutputCheck& check, const Allowance& allowance,
                 const std::string& name, const ValuesAt& values_at) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Difference difference;
  if (check.kind == OutputCheck::Kind::kExact) {
    difference.acceptable = seen.different == 0;
    if (difference.acceptable) return difference;
    difference.ratio = kInfinity;
    const auto [value, wanted] = values_at(seen.first);
    difference.message = fmt::format("{}[{}] is {}, not {}", name, seen.first, value, wanted);
    return difference;
  }
  if (seen.different > 0) {
    difference.message = fmt::format("{}: {} of {} elements are not finite or were never written, the first at {}", name,
                                     seen.different, elements, seen.first);
    difference.l2 = difference.max = kNoValue;
    difference.ratio = kInfinity;
    return difference;
  }
  const double count = static_cast<double>(elements);
  const double scale = std::max(std::sqrt(seen.reference_squares / count), allowance.scale);
  // A reference of zeros has no scale: only zeros are right.
  difference.l2 = seen.squares == 0 ? 0 : std::sqrt(seen.squares / count) / scale;
  difference.max = seen.largest == 0 ? 0 : seen.largest / scale;
  const double l2_bound = std::max(check.l2, allowance.l2);
  const double max_bound = std::max({check.max, allowance.max, scale > 0 ? check.l2 * allowance.largest / scale : 0});
  difference.acceptable = difference.l2 <= l2_bound && difference.max <= max_bound;
  difference.ratio = std::max(difference.l2 / l2_bound, difference.max / max_bound);
  if (!difference.acceptable) {
    const auto [value, wanted] = values_at(seen.worst);
    difference.message = fmt::format(
        "{}: relative L2 error {:.2e} (allowed {:.0e}), largest error {:.2e} of the rms (allowed {:.0e}), at {}: {:.6g}, not "
        "{:.6g}",
        name, difference.l2, l2_bound, difference.max, max_bound, seen.worst, value, wanted);
  }
  return difference;
}

}  // namespace evo
