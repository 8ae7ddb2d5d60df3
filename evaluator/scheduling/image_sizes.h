#pragma once

#include <cstddef>

#include "evaluator/device/device_policy.h"
#include "evaluator/messages/requests.h"
#include "kernel_templates/task.h"

namespace evo {

// For which sizes a source that has them compiled in is compiled. A source without evo:size has one image for all.

// For a candidate of the search, which runs the search cases and the small one.
ImageSizes SizesOfSearch(const Task& task, const DevicePolicy& policy);
// For a champion candidate, the reference, and the baseline that says which inputs are legal: all cases of the device, and those
// that the task does not list.
ImageSizes SizesOfCheck(const Task& task, const DevicePolicy& policy, std::size_t memory_bytes);
// For samples of blocks, in the emulation, at the sizes that are timed on a GPU.
ImageSizes SizesOfBlockSamples(const Task& task);

}  // namespace evo
