#pragma once

#include <string>
#include <vector>

#include "kernel_templates/task.h"

namespace evo {

// The task with other sizes to search with: each shape, a text such as "B=4,S=512", becomes a search case of weight 1 for that
// device ("cuda" or "cpu"), and these are then the only ones. Sizes that a shape does not name are those of the task's first
// search case for the device. The small and the held-out cases stay. The result is what a task.json that said so would be: its
// json and digest differ from the task's, so that nothing measured on one is taken for the other. No shapes: the task itself.
// Throws UsageError: which shape, what is wrong, what is allowed.
Task WithSearchShapes(const Task& task, const std::string& device, const std::vector<std::string>& shapes);

}  // namespace evo
