#pragma once

#include <vector>

#include "cli/command_context.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// Compares the directives of templates that a person wrote, and of reference.cu, with their task, and their launch lines with the
// kernels' parameters, which a worker process reads. Throws UsageError with file and line for the first that cannot be right, and
// for a header with code that no kernel may have; Interrupted. A template that the parser cannot read passes, since the compilers
// say more of it.
void CheckTemplates(std::vector<KernelTemplate> templates, const Task& task, const CommandContext& context);

}  // namespace evo
