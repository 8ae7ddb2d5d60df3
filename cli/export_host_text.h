#pragma once

namespace evo {

// What is the same in all files that launch an exported kernel (cli/export_host.h).

inline constexpr const char* kHead = R"(
// What the expressions of the launch lines mean.
template <class A, class B>
static constexpr auto min(A a, B b) { return a < b ? a : b; }
template <class A, class B>
static constexpr auto max(A a, B b) { return a > b ? a : b; }
[[maybe_unused]] static constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }
using std::sqrt;
)";

// Written only where a launch line calls them.
inline constexpr const char* kPower = R"([[maybe_unused]] static constexpr long long power(long long base, long long exponent) {
  return exponent > 0 ? base * power(base, exponent - 1) : 1;
}
)";
inline constexpr const char* kCeilLog = R"([[maybe_unused]] static constexpr long long ceil_log(long long value, long long base) {
  return value > 1 ? 1 + ceil_log(ceil_div(value, base), base) : 0;
}
)";

inline constexpr const char* kLaunch = R"(
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
)";

inline constexpr const char* kMap = R"(
// Describes a buffer to the copy engine; strides follow from the dims. The driver's function is looked up by name, so that
// nothing links to libcuda.
static cudaError_t make_map(CUtensorMap* map, CUtensorMapDataType type, int bytes, const void* buffer, int rank,
                            const long long* dims, const long long* box, CUtensorMapSwizzle swizzle) {
  static decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  if (encode == nullptr) {
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode), 12000, cudaEnableDefault,
                                         &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  }
  cuuint64_t extents[5], strides[5];
  cuuint32_t boxes[5], steps[5];
  cuuint64_t stride = bytes;
  for (int i = 0; i < rank; ++i) {
    extents[i] = dims[i];
    strides[i] = stride *= dims[i];
    boxes[i] = static_cast<cuuint32_t>(box[i]);
    steps[i] = 1;
  }
  const CUresult result =
      encode(map, type, rank, const_cast<void*>(buffer), extents, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}
)";

}  // namespace evo
