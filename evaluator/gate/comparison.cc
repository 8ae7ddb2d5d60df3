#include "evaluator/gate/comparison.h"

#include <fmt/format.h>

#include <cmath>

namespace evo {

Difference Judge(const InspectionResult& seen, std::uint64_t elements, const OutputCheck& check, const std::string& name,
                 const ValuesAt& values_at) {
  Difference difference;
  if (check.kind == OutputCheck::Kind::kExact) {
    difference.acceptable = seen.different == 0;
    if (difference.acceptable) return difference;
    const auto [value, wanted] = values_at(seen.first);
    difference.message = fmt::format("{}[{}] is {}, not {}", name, seen.first, value, wanted);
    return difference;
  }
  if (seen.different > 0) {
    difference.message = fmt::format("{}: {} of {} elements are not finite or were never written, the first at {}", name,
                                     seen.different, elements, seen.first);
    difference.l2 = difference.max = kNoValue;
    return difference;
  }
  const double rms = std::sqrt(seen.reference_squares / static_cast<double>(elements));
  // A reference of zeros has no scale: only zeros are right.
  difference.l2 = seen.squares == 0 ? 0 : std::sqrt(seen.squares / seen.reference_squares);
  difference.max = seen.largest == 0 ? 0 : seen.largest / rms;
  difference.acceptable = difference.l2 <= check.l2 && difference.max <= check.max;
  if (!difference.acceptable) {
    const auto [value, wanted] = values_at(seen.worst);
    difference.message = fmt::format(
        "{}: relative L2 error {:.2e} (allowed {:.0e}), largest error {:.2e} of the rms (allowed {:.0e}), at {}: {:.6g}, not "
        "{:.6g}",
        name, difference.l2, check.l2, difference.max, check.max, seen.worst, value, wanted);
  }
  return difference;
}

}  // namespace evo
