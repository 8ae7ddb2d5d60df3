#pragma once

#include <string>
#include <vector>

#include "kernel_templates/task.h"

namespace evo {

// The task with other search cases for a device ("cuda" or "cpu"). Each shape, a text such as "B=4,S=512", becomes a search case
// of weight 1 and replaces the task's own ones. Sizes that a shape does not name are those of the task's first search case for
// the device. The small and the held-out cases stay. The result equals a task that was loaded from such a task.json: its json and
// digest differ from the task's, so that no measurement of one counts for the other. Without shapes it is the task itself. Throws
// UsageError with the shape, what is wrong and what is allowed.
Task WithSearchShapes(const Task& task, const std::string& device, const std::vector<std::string>& shapes);

}  // namespace evo
