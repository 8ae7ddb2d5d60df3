// One warp a row, one lane a column, a reduction by shuffles for each key, online softmax.
// buffers: Q f16 in [B, S, 32], K f16 in [B, S, 32], V f16 in [B, S, 32], O f16 out [B, S, 32]
// sizes: B=2 S=21; B=1 S=8
#include <cuda_fp16.h>

constexpr int WARPS_PER_BLOCK = 4;

__device__ float warp_sum(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffff, x, offset);
  return x;
}

// evo:launch attention_warp(Q, K, V, O, S) grid(ceil_div(S, 4), B) block(32 * 4)
__global__ void attention_warp(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
                               __half* __restrict__ O, int S) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS_PER_BLOCK + warp;
  if (row >= S) return;
  const long long head = (long long)blockIdx.y * S * 32;
  const float q = __half2float(Q[head + row * 32 + lane]) * 0.17677669f;
  float m = -INFINITY, l = 0.0f, o = 0.0f;
  for (int j = 0; j < S; ++j) {
    const float s = warp_sum(q * __half2float(K[head + j * 32 + lane]));
    const float next = fmaxf(m, s);
    const float c = expf(m - next);
    const float p = expf(s - next);
    l = l * c + p;
    o = o * c + p * __half2float(V[head + j * 32 + lane]);
    m = next;
  }
  O[head + row * 32 + lane] = __float2half(o / l);
}
