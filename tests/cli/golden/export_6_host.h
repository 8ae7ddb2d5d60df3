// Launches kernel.cu of the task scale. Buffers are device pointers; sizes are in elements, as the task names them.
#pragma once

#include <cuda_runtime_api.h>

cudaError_t kernel_launch(const void* x, void* y, long long n, cudaStream_t stream);
