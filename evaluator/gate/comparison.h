#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/evaluation.h"
#include "evaluator/device/inspection.h"
#include "kernel_templates/task.h"

namespace evo {

// How far an output is from its reference.
struct Difference {
  bool acceptable = false;
  double l2 = 0;        // ||out - ref|| / ||ref||
  double max = 0;       // max |out - ref| / rms(ref)
  std::string message;  // what is wrong, one line; empty if acceptable
};

// The output's element of that index and what it should be, for messages.
using ValuesAt = std::function<std::pair<double, double>(std::uint64_t index)>;

// Judges an inspected output of `elements` elements with the task's check. An element that is not finite where the reference is
// finite is wrong whatever the tolerance; where the reference is not finite, the output must be the same. Both errors are
// relative to the reference's own scale, so that zeros never pass.
Difference Judge(const InspectionResult& seen, std::uint64_t elements, const OutputCheck& check, const std::string& name,
                 const ValuesAt& values_at);

}  // namespace evo
