#include "evaluator/device/cuda/tensor_map_encoder.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

namespace evo {
namespace {

static_assert(sizeof(CUtensorMap) == sizeof(EncodedTensorMap) && alignof(CUtensorMap) <= alignof(EncodedTensorMap));

using EncodeTiled = std::add_pointer_t<decltype(cuTensorMapEncodeTiled)>;
// The first driver version that has the function.
constexpr unsigned kEncodeVersion = 12000;

// libcuda cannot be linked, so the function comes from the driver that the run-time library has found.
EncodeTiled FindEncodeTiled() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kEncodeVersion, cudaEnableDefault, &found) !=
      cudaSuccess)
    cudaGetLastError();
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<EncodeTiled>(function) : nullptr;
}

std::optional<CUtensorMapDataType> DataType(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case Dtype::kF32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case Dtype::kF16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case Dtype::kBF16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case Dtype::kI64:
      return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case Dtype::kI32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case Dtype::kU64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case Dtype::kU32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    // The driver has no signed elements of 16 or 8 bits; a copy moves bits.
    case Dtype::kI16:
    case Dtype::kU16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case Dtype::kI8:
    case Dtype::kU8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    default:
      return std::nullopt;
  }
}

CUtensorMapSwizzle Swizzle(std::uint32_t bytes) {
  switch (bytes) {
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

}  // namespace

DeviceStatus Encode(const DeviceTensorMap& map, EncodedTensorMap& encoded) {
  static const EncodeTiled encode = FindEncodeTiled();
  const TensorMapUse& use = map.use;
  const auto type = DataType(use.dtype);
  if (encode == nullptr || !type)
    return {Outcome::kUnsupported, fmt::format("tensor map {}: this driver cannot make it", use.name), false};
  const std::vector<cuuint64_t> dims(use.dims.begin(), use.dims.end());
  std::vector<cuuint64_t> strides;  // of every dimension except the first, in bytes
  cuuint64_t stride = ByteSize(use.dtype);
  for (const cuuint64_t dim : dims) strides.push_back(stride *= dim);
  const std::vector<cuuint32_t> steps(dims.size(), 1);
  CUtensorMap made;
  const CUresult result = encode(&made, *type, static_cast<cuuint32_t>(dims.size()), reinterpret_cast<void*>(map.address),
                                 dims.data(), strides.data(), use.box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 Swizzle(use.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return {Outcome::kLaunchError,
            fmt::format("tensor map {}: the driver refuses it (CUDA error {})", use.name, static_cast<int>(result)), false};
  }
  std::copy_n(reinterpret_cast<const std::byte*>(&made), sizeof(made), encoded.bytes.begin());
  return {};
}

}  // namespace evo
