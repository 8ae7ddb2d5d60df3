#pragma once

#include <string>
#include <vector>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {

// A .cu that includes the exported kernel, `kernel_file`, and launches it for any sizes: `cudaError_t STEM_launch(buffers..,
// sizes.., stream)` in the order of the task, with the stem of the file's name. Its kernels get the suffix `_evo_` and 8
// hexadecimal digits of the text's digest, and all other functions are static: the objects of several exports can be linked into
// one program. Makes tensor maps, sets the kernel's attributes, allocates workspaces from the stream; needs only the CUDA
// runtime. `exported` is the parsed kernel: its parameters are the macros that the expressions here name. With `verified_sizes`
// (VerifiedDomain::sizes), the function refuses a size outside the range of those and of the task's own cases with
// cudaErrorInvalidValue, unless EVO_ANY_SIZE is defined. It always refuses sizes other than those that are compiled in
// (evo:size).
std::string ExportHost(const KernelTemplate& exported, const Task& task, const std::string& kernel_file,
                       const std::string& run_arch, const std::vector<std::string>& verified_sizes = {});

// The header that declares the function of ExportHost.
std::string ExportHeader(const KernelTemplate& exported, const Task& task, const std::string& kernel_file);

// The architecture that the kernel requires if its instructions exist on one chip only, else that of the run.
std::string ArchToCompileFor(const KernelTemplate& exported, const std::string& run_arch);

// The options of nvcc for an architecture. `-arch=sm_90a` alone would also make PTX for compute_90, which lacks the instructions
// of sm_90a.
std::string NvccTarget(const std::string& arch);

}  // namespace evo
