#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "import/source_program.h"

namespace evo {

// The program's text with kernels, on the lines that it has, for what the host does to buffers between launches, since steps of
// a task are launches: a cudaMemcpy from one to another in a loop whose launches get both and follow its variable, or from what a
// launch before it gets to what one behind it gets, and a cudaMemset, or a copy of a variable that is zero, of one element
// between launches that get its buffer; and a copy of what has the start of a maximum or minimum in all elements
// (start_values.h). nullopt if there is none.
std::optional<std::string> WithStepKernels(const SourceProgram& program);
// Whether a kernel is called as one of these.
bool IsStepKernel(std::string_view name);

}  // namespace evo
