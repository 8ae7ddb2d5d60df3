#pragma once

#include <string>

#include "evaluator/compiler/compiler.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// What `evo best --export --with-host` gives a user: this text and the file that launches it, with the options of nvcc that their
// comments say. `parsed` is the rendered kernel; `arch` that of the run.
ExportedKernel MakeExportedKernel(const std::string& text, const KernelTemplate& parsed, const Task& task,
                                  const std::string& arch);

}  // namespace evo
