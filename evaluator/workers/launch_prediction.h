#pragma once

#include <optional>
#include <string>

#include "evaluator/device/device.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// Why a rendered candidate cannot be launched on the small case or on a search case of the device, whatever it compiles to:
// threads per block, size of the grid, dynamic shared memory. One line; nullopt if nothing is known against it. Wrong expressions
// in directives are left to the gate's report.
std::optional<std::string> CannotLaunch(const KernelTemplate& rendered, const Task& task, const DeviceInfo& device);

// The same at some sizes, which the task need not list.
std::optional<std::string> CannotLaunchAt(const KernelTemplate& rendered, const Task& task, const Case& sizes,
                                          const DeviceInfo& device);

}  // namespace evo
