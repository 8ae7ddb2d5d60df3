// Written together with what it needs. A bias by the distance of key and query, from a table; halves, powers of two.
// buffers: q f16 in [B, H, N, 64], k f16 in [B, H, N, 64], v f16 in [B, H, N, 64], table f16 in [H, 2 * N - 1], o f16 out [B, H, N, 64]
// sizes: B=1 H=2 N=40; B=2 H=1 N=6
#include <cuda_fp16.h>

#define C 64
#define LOG2E 1.4426950409f

// evo:launch relative_attention(q, k, v, table, o, N, H, f32(0.125)) grid(ceil_div(N, 64), B * H) block(64)
__global__ void relative_attention(const half* q, const half* k, const half* v, const half* table, half* o, int N, int H,
                                   float scale) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= N) return;
  const int base = blockIdx.y * N * C;
  const half* bias = table + blockIdx.y % H * (2 * N - 1) + (N - 1);
  float top = -INFINITY, z = 0.f, acc[C] = {};
  for (int j = 0; j < N; ++j) {
    float s = 0.f;
    for (int c = 0; c < C; ++c) s += __half2float(q[base + i * C + c]) * __half2float(k[base + j * C + c]);
    s = (s * scale + __half2float(bias[j - i])) * LOG2E;
    const float next = fmaxf(top, s), fade = exp2f(top - next), w = exp2f(s - next);
    z = z * fade + w;
    for (int c = 0; c < C; ++c) acc[c] = acc[c] * fade + w * __half2float(v[base + j * C + c]);
    top = next;
  }
  for (int c = 0; c < C; ++c) o[base + i * C + c] = __float2half(acc[c] / z);
}
