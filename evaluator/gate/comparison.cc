#include "evaluator/gate/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace evo {
namespace {

// Memory held poison before the launch: an infinity or a zero there may also be what the kernel computed.
bool NeverWritten(const ElementSeen& seen) { return seen.as_before && !std::isinf(seen.value) && seen.value != 0; }

// "2, not 3", or that it was not written.
std::string Compared(const ElementSeen& seen, int digits) {
  const auto text = [&](double number) {
    return digits > 0 ? fmt::format("{:.{}g}", number, digits) : fmt::format("{}", number);
  };
  if (NeverWritten(seen)) return fmt::format("never written, should be {}", text(seen.wanted));
  return fmt::format("{}{}, not {}", text(seen.value), seen.as_before ? " as before the launch" : "", text(seen.wanted));
}

}  // namespace

Difference Judge(const InspectionResult& seen, std::uint64_t elements, const OutputCheck& check, const Allowance& allowance,
                 const std::string& name, const ElementAt& element_at) {
  constexpr int kDigits = 6;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Difference difference;
  if (check.kind == OutputCheck::Kind::kExact) {
    difference.acceptable = seen.different == 0;
    if (difference.acceptable) return difference;
    difference.ratio = kInfinity;
    const ElementSeen first = element_at(seen.first);
    difference.message = fmt::format("{}[{}]{} {}", name, seen.first, NeverWritten(first) ? ":" : " is", Compared(first, 0));
    return difference;
  }
  if (seen.different > 0) {
    const ElementSeen first = element_at(seen.first);
    difference.message = fmt::format("{}: {} of {} elements {}, the first at {}: {}", name, seen.different, elements,
                                     std::isfinite(first.wanted) ? "are not finite" : "differ where the answer is not finite",
                                     seen.first, Compared(first, kDigits));
    difference.l2 = difference.max = kNoValue;
    difference.ratio = kInfinity;
    return difference;
  }
  const double count = static_cast<double>(std::max<std::uint64_t>(elements, 1));
  const double scale = std::max(std::sqrt(seen.reference_squares / count), allowance.scale);
  // A reference of zeros has no scale: only zeros are right.
  difference.l2 = seen.squares == 0 ? 0 : std::sqrt(seen.squares / count) / scale;
  difference.max = seen.largest == 0 ? 0 : seen.largest / scale;
  const double l2_bound = std::max(check.l2, allowance.l2);
  const double max_bound = std::max({check.max, allowance.max, scale > 0 ? check.l2 * allowance.largest / scale : 0});
  difference.acceptable = difference.l2 <= l2_bound && difference.max <= max_bound;
  difference.ratio = std::max(difference.l2 / l2_bound, difference.max / max_bound);
  if (!difference.acceptable) {
    difference.message = fmt::format(
        "{}: relative L2 error {:.2e} (allowed {:.0e}), largest error {:.2e} of the rms (allowed {:.0e}), at {}: {}", name,
        difference.l2, l2_bound, difference.max, max_bound, seen.worst, Compared(element_at(seen.worst), kDigits));
  }
  return difference;
}

}  // namespace evo
