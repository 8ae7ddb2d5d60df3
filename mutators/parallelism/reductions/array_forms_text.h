#pragma once

#include <string_view>

namespace evo {

// What array_forms_writer.cc writes, with marks that begin with "@" for what differs.
inline constexpr std::string_view kBlockCombined =
    R"(// The @word of a block's values, for its first thread: of the lanes of a warp by shuffles, then of the warps.
__device__ @A @name(@A value) {
  __shared__ @A of_warps[@THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const @A other = __shfl_down_sync(0xffffffffu, value, offset);
    value = @combined;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < @THREADS / 32 ? of_warps[threadIdx.x] : @0;
    for (int offset = 16; offset > 0; offset /= 2) {
      const @A other = __shfl_down_sync(0xffffffffu, value, offset);
      value = @combined;
    }
  }
  return value;
}

)";

inline constexpr std::string_view kBlockPlaced =
    R"(// The @word of a block's values and where it is, for its first thread.
__device__ void @name(@A& @value, long long& @at) {
  __shared__ @A of_warps[@THREADS / 32];
  __shared__ long long at_warps[@THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    const @A other = __shfl_down_sync(0xffffffffu, @value, offset);
    const long long other_at = __shfl_down_sync(0xffffffffu, @at, offset);
    if (@better) @value = other, @at = other_at;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = @value, at_warps[threadIdx.x / 32] = @at;
  __syncthreads();
  if (threadIdx.x < 32) {
    @value = threadIdx.x < @THREADS / 32 ? of_warps[threadIdx.x] : @0;
    @at = threadIdx.x < @THREADS / 32 ? at_warps[threadIdx.x] : -1;
    for (int offset = 16; offset > 0; offset /= 2) {
      const @A other = __shfl_down_sync(0xffffffffu, @value, offset);
      const long long other_at = __shfl_down_sync(0xffffffffu, @at, offset);
      if (@better) @value = other, @at = other_at;
    }
  }
}

)";

inline constexpr std::string_view kArrayKernels =
    R"(// Each block combines its share of the elements, of which a thread takes @ITEMS vectors in a round; the only block stores
// the results.
__global__ void __launch_bounds__(@THREADS) @first(@inputs, @P* partial, @outputs, long long count) {
  constexpr int kVector = 16 / sizeof(@T);
  constexpr int kRound = @THREADS * @ITEMS * kVector;
  struct alignas(16) Vector {
    @T at[kVector];
  };
@origin@begin
  for (long long first = (long long)blockIdx.x * kRound; first < count; first += (long long)gridDim.x * kRound) {
    if (count - first >= kRound && (@addresses) % 16 == 0) {
#pragma unroll
      for (int k = 0; k < @ITEMS; ++k) {
@loads
#pragma unroll
        for (int v = 0; v < kVector; ++v) {
@turn_of_vectors
        }
      }
    } else {
      for (long long i = first + threadIdx.x; i < count && i - first < kRound; i += @THREADS) {
@turn_of_elements
      }
    }
  }
@combine
  if (threadIdx.x != 0) return;
  if (gridDim.x > 1) {
@hand_on
    return;
  }
@store
}

// Combines the blocks' results, always in the same order.
__global__ void __launch_bounds__(@THREADS) @last(const @P* __restrict__ partial, @outputs, int blocks, long long count) {
@begin
  for (int i = threadIdx.x; i < blocks; i += @THREADS) {
@turn_of_blocks
  }
@combine
  if (threadIdx.x != 0) return;
@store
})";

}  // namespace evo
