#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel_templates/case_scale.h"
#include "kernel_templates/task.h"

namespace evo {

// The task with other sizes to search with: each shape, a text such as "B=4,S=512", becomes a search case of weight 1 at that
// scale, and replaces the task's own. A size that a shape does not name is that of the task's first search case. The small and
// the held-out cases stay. The result is what a task.json with these cases would be: its json and digest differ from the task's,
// so that measurements of the two are never mixed up. Without shapes: the task itself.
// Throws UsageError: which shape, what is wrong, what is allowed.
Task WithSearchShapes(const Task& task, CaseScale scale, const std::vector<std::string>& shapes);

// The type that candidates compute in, that of their first input: "f16". Empty without inputs.
std::string ArithmeticOf(const Task& task);

// "ROWS=41,COLS=1283", in the task's order.
std::string SizesText(const Task& task, const Case& sizes);
// The case of the task with that name, or the sizes that a text of SizesText gives; nullopt for anything else.
std::optional<Case> FindCase(const Task& task, const std::string& name);

}  // namespace evo
