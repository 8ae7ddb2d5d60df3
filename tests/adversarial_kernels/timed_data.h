#pragma once

#include <string>

#include "kernel_templates/task.h"

namespace evo {

// The source of a kernel of row 39 that knows the data on which candidates of the task dot_rows are timed: its arrays `prints`
// and `answers`, which are {0} in the file, get b[0] and the result of every set that a run with seed 0 may draw for the search
// case. Other sources are returned as they are.
std::string WithTimedData(std::string source, const Task& task, const std::string& device);

}  // namespace evo
