#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/device/device_policy.h"
#include "evaluator/gate/input_set.h"
#include "kernel_templates/task_shape.h"

namespace evo {

// Sizes that a kernel is tried at although the task does not list them.

// The most that one such case may cost.
struct ShapeLimits {
  double operations = 0;  // as the task declares them
  double bytes = 0;       // of all arguments
};

// For each size of `usual`, one after the other: 1, half, the next larger prime and double; all sizes equal; and each past 65,535
// with more than 2^24 elements in one argument, as far as the limits allow; the other sizes are those of `usual`, in the last
// kind those of `small` or less. No case occurs twice or equals `usual`. Named by SizesText.
std::vector<Case> ShapeProbes(const Task& task, const Case& usual, const Case& small, const ShapeLimits& limits);

// Those that a champion candidate of the task is tried at on such a device.
std::vector<Case> SizesToTry(const Task& task, const DevicePolicy& policy, std::size_t memory_bytes);

// `usual` with its largest sizes halved until no argument has more than `elements` elements. Named by SizesText.
Case ShrunkCase(const Task& task, const Case& usual, std::int64_t elements);

// Whether one of the sizes is larger than in every case of the task.
bool LargerThanListed(const Task& task, const Case& sizes);

// Contents for such a case, by the first generator of each input. A large input repeats its first million elements, whose number
// is prime: drawing all of them would take seconds.
DrawnArguments DrawArgumentsOfSizes(const Task& task, const Case& sizes, std::uint64_t seed);

}  // namespace evo
