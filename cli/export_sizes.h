#pragma once

#include <string>
#include <vector>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// What exports say of sizes that are compiled in (evo:size). The first three texts are as before for a kernel without them.

// For the file that launches a kernel: a constant `compiled_NAME` for each macro, as the kernel was compiled. A macro that has
// the name of a size is undefined then, since it would be in the way of the function's parameter.
std::string CompiledSizeConstants(const KernelTemplate& exported, const Task& task);
// A kernel expression with those constants in the place of the macros.
std::string WithCompiledSizes(std::string kernel_expression, const KernelTemplate& exported);
// Lines of the launching function: it refuses other sizes.
std::string RefuseOtherSizes(const KernelTemplate& exported);
// The first lines of the file that launches a kernel: for which sizes.
std::string LaunchedSizes(const KernelTemplate& exported, const std::string& kernel_file, const std::string& task);

// One sentence for the exported file: what is compiled in, `here` of the values in its lines, and the options for others.
std::string DescribeCompiledSizes(const std::vector<SizeMacro>& macros, const std::string& here);
// nvcc's options for a case: " -DWIDTH=100".
std::string SizeOptions(const std::vector<SizeMacro>& macros, const Case& sizes);

}  // namespace evo
