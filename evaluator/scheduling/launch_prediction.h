#pragma once

#include <optional>
#include <string>

#include "evaluator/device/device.h"
#include "kernel_templates/task.h"

namespace evo {

// Why this rendered source cannot be launched on a case of the search or the small one, whatever it compiles to: threads of a
// block, size of the grid, dynamic shared memory. One line; nullopt: nothing is known against it. A source whose directives are
// wrong is left to the compiler's report.
std::optional<std::string> CannotLaunch(const std::string& source, const Task& task, const DeviceInfo& device);

}  // namespace evo
