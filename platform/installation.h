#pragma once

#include <filesystem>
#include <optional>

namespace evo {

// The folder of the files that evo reads at run time: `../share/evo`, seen from the running program's folder, in a build tree as
// well as in an installed copy. It contains kernel_templates/ (tasks), clang/ (libclang's resource directory), cpu/ (headers of
// the cpu device), nvrtc/ (small standard headers) and syntax/ (headers for the parser). Throws Error if it does not exist.
std::filesystem::path ShareDirectory();

// The folder of the running program.
std::filesystem::path ProgramDirectory();

// The folder of the CUDA toolkit: the first of $CUDA_HOME, $CUDA_PATH, the toolkit of the nvcc on the PATH, and /usr/local/cuda
// that contains include/cuda_runtime.h. nullopt if there is none.
std::optional<std::filesystem::path> CudaRoot();

}  // namespace evo
