#pragma once

#include <filesystem>
#include <optional>

namespace evo {

// The folder with what evo reads at run time, found beside the running program: `../share/evo` from its directory, in a build
// tree as in an installed copy. Holds kernel_templates/ (tasks), clang/ (libclang's resource directory), cpu/ (headers of the cpu
// device), nvrtc/ (small standard headers) and syntax/ (headers for the parser). Throws Error if it is not there.
std::filesystem::path ShareDirectory();

// Directory of the running program.
std::filesystem::path ProgramDirectory();

// The CUDA toolkit: $CUDA_HOME, $CUDA_PATH, the one nvcc on the PATH belongs to, /usr/local/cuda; the first that has
// include/cuda_runtime.h. nullopt if there is none.
std::optional<std::filesystem::path> CudaRoot();

}  // namespace evo
