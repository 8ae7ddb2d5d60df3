#pragma once

#include <cuda.h>

namespace evo {

// The CUDA context of this thread. Throws Error if there is none.
CUcontext CurrentContext();

}  // namespace evo
