// A residual is added in place, and its norm stored; eight halves at a time, as a struct that is an array.
// buffers: Y f16 out [M, N], R f16 inout [M, N], X f16 in [M, N], G f16 in [N]
// sizes: M=1 N=8; M=5 N=72; M=3 N=520
// evo:launch add_and_norm(Y, R, X, G, N) grid(M) block(64) shared(N * 4)
#include <cuda_fp16.h>

struct __align__(16) Pack {
  half2 two[4];
};

__device__ float of_warp(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

__global__ void add_and_norm(half* __restrict__ y, half* __restrict__ r, const half* __restrict__ x, const half* __restrict__ g,
                             int n) {
  extern __shared__ float kept[];
  __shared__ float parts[2];
  const int packs = n >> 3;
  const size_t first = (size_t)blockIdx.x * packs;
  const Pack* xs = reinterpret_cast<const Pack*>(x) + first;
  Pack* rs = reinterpret_cast<Pack*>(r) + first;
  Pack* ys = reinterpret_cast<Pack*>(y) + first;
  const Pack* gs = reinterpret_cast<const Pack*>(g);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < packs; i += blockDim.x) {
    Pack a = xs[i];
    Pack b = rs[i];
    for (int k = 0; k < 4; ++k) a.two[k] = __hadd2(a.two[k], b.two[k]);
    rs[i] = a;
    for (int k = 0; k < 4; ++k) {
      const float2 f = __half22float2(a.two[k]);
      sum += f.x * f.x + f.y * f.y;
      kept[i * 8 + 2 * k] = f.x;
      kept[i * 8 + 2 * k + 1] = f.y;
    }
  }
  sum = of_warp(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  const float s = rsqrtf((parts[0] + parts[1]) / n + 1e-5f);
  for (int i = threadIdx.x; i < packs; i += blockDim.x) {
    Pack w = gs[i], o;
    for (int k = 0; k < 4; ++k) {
      const float2 h = __half22float2(w.two[k]);
      o.two[k] = __floats2half2_rn(kept[i * 8 + 2 * k] * s * h.x, kept[i * 8 + 2 * k + 1] * s * h.y);
    }
    ys[i] = o;
  }
}
