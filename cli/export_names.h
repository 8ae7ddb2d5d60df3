#pragma once

#include <string>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// Names of one export. Functions and kernels of two exports in one program must not have a common name: a linker merges templates
// and inline functions of equal signature without a word.
struct ExportNames {
  std::string stem;    // of the kernel's file, as an identifier
  std::string suffix;  // of its kernels
  // Of the function's own variables, which must not be those of an argument, a size or a workspace.
  std::string error = "error";
  std::string stream = "stream";
  std::string arguments = "arguments";
  std::string kept = "kept";
};

// `kernel_file`: the name of the exported file.
ExportNames NamesOf(const KernelTemplate& exported, const Task& task, const std::string& kernel_file);

// `name(const void* x, void* y, long long n, cudaStream_t stream)`; without `types`, a call with these names.
std::string Signature(const Task& task, const ExportNames& names, const std::string& name, bool types);

}  // namespace evo
