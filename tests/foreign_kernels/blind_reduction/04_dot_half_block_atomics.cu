// buffers: A f16 in [N], B f16 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:memset Y 0
// evo:launch dotKernel<__half, float>(A, B, Y, i64(N)) grid(min(ceil_div(N, 1024), 64)) block(256)
#include <cuda_fp16.h>
#include <stdint.h>

template <typename T>
struct Convert {
  static __device__ __forceinline__ float apply(const T& v) { return static_cast<float>(v); }
};

template <>
struct Convert<__half> {
  static __device__ __forceinline__ float apply(const __half& v) { return __half2float(v); }
};

template <typename Acc>
__device__ __forceinline__ Acc warpSum(Acc v) {
  v += __shfl_down_sync(0xffffffffu, v, 16);
  v += __shfl_down_sync(0xffffffffu, v, 8);
  v += __shfl_down_sync(0xffffffffu, v, 4);
  v += __shfl_down_sync(0xffffffffu, v, 2);
  v += __shfl_down_sync(0xffffffffu, v, 1);
  return v;
}

template <typename T, typename Acc>
__global__ void dotKernel(const T* a, const T* b, Acc* out, const int64_t numel) {
  constexpr int kVec = 4;
  Acc acc = Acc(0);
  const int64_t base = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kVec;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x * kVec;
  for (int64_t i = base; i < numel; i += stride) {
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      if (i + j < numel) acc += Convert<T>::apply(a[i + j]) * Convert<T>::apply(b[i + j]);
    }
  }

  __shared__ Acc warps[32];
  acc = warpSum(acc);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = acc;
  __syncthreads();
  if (threadIdx.x < 32) {
    acc = threadIdx.x < (blockDim.x >> 5) ? warps[threadIdx.x] : Acc(0);
    acc = warpSum(acc);
    if (threadIdx.x == 0) atomicAdd(out, acc);
  }
}
