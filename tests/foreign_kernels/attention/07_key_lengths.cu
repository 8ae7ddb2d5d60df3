// Keys beyond the length of a sequence are masked.
// buffers: Q f16 in [B, H, N, 32], K f16 in [B, H, N, 32], V f16 in [B, H, N, 32], lens i32<8 in [B], O f16 out [B, H, N, 32]
// sizes: B=2 H=2 N=40; B=3 H=1 N=7
#include <cuda_fp16.h>
#define DIM 32

// evo:launch masked_attention(Q, K, V, lens, O, N, H) grid(ceil_div(N, 64), H, B) block(64)
__global__ void masked_attention(const half* Q, const half* K, const half* V, const int* lens, half* O, int N, int H) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  const int b = blockIdx.z, h = blockIdx.y;
  const int len = lens[b];
  const half* q = Q + ((b * H + h) * N + i) * DIM;
  const half* k = K + (b * H + h) * N * DIM;
  const half* v = V + (b * H + h) * N * DIM;
  float m = -1e20f, l = 0.0f, acc[DIM] = {};
  for (int j = 0; j < len; ++j) {
    float s = 0.0f;
    for (int d = 0; d < DIM; ++d) s += __half2float(q[d]) * __half2float(k[j * DIM + d]);
    s *= 0.17677669f;
    const float old = m;
    m = fmaxf(m, s);
    const float fix = expf(old - m), p = expf(s - m);
    l = l * fix + p;
    for (int d = 0; d < DIM; ++d) acc[d] = acc[d] * fix + p * __half2float(v[j * DIM + d]);
  }
  for (int d = 0; d < DIM; ++d) O[((b * H + h) * N + i) * DIM + d] = __float2half(acc[d] / l);
}
