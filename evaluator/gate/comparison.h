#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/evaluation.h"
#include "evaluator/device/inspection.h"
#include "kernel_templates/task.h"

namespace evo {

// How far an output is from its reference.
struct Difference {
  bool acceptable = false;
  double l2 = 0;        // ||out - ref|| / ||ref||
  double max = 0;       // max |out - ref| / rms(ref)
  double ratio = 0;     // the larger of the two over its bound: above 1 it is wrong; infinite where an element is not finite
  std::string message;  // what is wrong, one line; empty if acceptable
};

// What an output may be off by on inputs that the task does not list (evaluator/session/legal_inputs.h).
struct Allowance {
  double scale = 0;    // errors are relative to this where the reference's rms is smaller, as where sums cancel
  double largest = 0;  // the reference's largest magnitude: the check's L2 bound, relative to it, also bounds the largest error
  double l2 = 0;       // accepted instead of the check's own bounds where these are smaller
  double max = 0;
};

// An element of an output, for messages.
struct ElementSeen {
  double value = 0;
  double wanted = 0;
  bool as_before = false;  // its bits are those that were there before the launch
};
using ElementAt = std::function<ElementSeen(std::uint64_t index)>;

// Judges an inspected output of `elements` elements with the task's check. An element that is not finite where the reference is
// finite is wrong whatever the tolerance; where the reference is not finite, the output must be the same. Both errors are
// relative to the reference's own scale, so that zeros never pass.
Difference Judge(const InspectionResult& seen, std::uint64_t elements, const OutputCheck& check, const Allowance& allowance,
                 const std::string& name, const ElementAt& element_at);

}  // namespace evo
