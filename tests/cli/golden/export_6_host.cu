// Launches kernel.cu, for any sizes that it takes. Buffers are device pointers in the order of the task scale, sizes follow.
// kernel_host.h declares the function. Compile: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -c FILE
#include <cuda_runtime.h>

#include <cmath>

// So that another kernel of this name can be in the same program.
#define scale scale_evo_2ac23b56
#include "kernel.cu"
#undef scale

namespace kernel_host {

// What the expressions of the launch lines mean.
template <class A, class B>
static constexpr auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B>
static constexpr auto max(A a, B b) { return a > b ? a : b; }
[[maybe_unused]] static constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }
using std::sqrt;

static cudaError_t launch(const void* kernel, dim3 grid, dim3 block, dim3 cluster, bool cooperative, long long shared,
                          void** arguments, cudaStream_t stream) {
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  config.stream = stream;
  config.attrs = attributes;
  if (cluster.x * cluster.y * cluster.z > 1) {
    // More than eight blocks of a cluster have to be allowed.
    if (cluster.x * cluster.y * cluster.z > 8)
      error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
  }
  if (cooperative) {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
  }
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

static cudaError_t run(const void* x, void* y, long long n, cudaStream_t stream) {
  (void)n;
  cudaError_t error = cudaSuccess;
  if (error == cudaSuccess) {
    int argument_2 = static_cast<int>(n);
    void* arguments[] = {const_cast<void**>(&x), &y, &argument_2};
    error = kernel_host::launch(reinterpret_cast<const void*>(&::scale_evo_2ac23b56),
                   dim3(static_cast<unsigned>(ceil_div(n, BLOCK))), dim3(static_cast<unsigned>(BLOCK)), dim3(1), false,
                   0, arguments, stream);
  }
  return error;
}

}  // namespace kernel_host

cudaError_t kernel_launch(const void* x, void* y, long long n, cudaStream_t stream) {
  return kernel_host::run(x, y, n, stream);
}
