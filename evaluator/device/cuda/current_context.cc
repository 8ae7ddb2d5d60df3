#include "evaluator/device/cuda/current_context.h"

#include <cuda_runtime_api.h>

#include <type_traits>

#include "core/error.h"

namespace evo {

// libcuda cannot be linked, so the function comes from the driver that the run-time library has found.
CUcontext CurrentContext() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  constexpr unsigned kVersion = 4000;
  if (cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, kVersion, cudaEnableDefault, &found) != cudaSuccess)
    cudaGetLastError();
  CUcontext context = nullptr;
  if (found == cudaDriverEntryPointSuccess) reinterpret_cast<std::add_pointer_t<decltype(cuCtxGetCurrent)>>(function)(&context);
  if (context == nullptr) throw Error("there is no CUDA context to count in; see `evo doctor`");
  return context;
}

}  // namespace evo
