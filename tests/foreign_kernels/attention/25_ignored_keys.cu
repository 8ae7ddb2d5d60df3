// Written together with what it needs. A byte a key says which ones are left out, by no score at all; halves.
// buffers: q f16 in [B, H, N, 64], k f16 in [B, H, N, 64], v f16 in [B, H, N, 64], ignored u8<2 in [B, N], y f16 out [B, H, N, 64]
// sizes: B=2 H=1 N=40; B=1 H=2 N=6
#include <cuda_fp16.h>

#define HEAD 64

// evo:launch ignore_keys(q, k, v, ignored, y, N, H, f32(0.125)) grid(ceil_div(N, 64), B * H) block(64)
__global__ void ignore_keys(const half* q, const half* k, const half* v, const unsigned char* ignored, half* y, int n, int heads,
                            float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long base = (long)blockIdx.y * n * HEAD;
  const unsigned char* skip = ignored + blockIdx.y / heads * n;
  float most = -1e30f, total = 0.0f, mixed[HEAD];
  for (int d = 0; d < HEAD; ++d) mixed[d] = 0.0f;
  for (int j = 0; j < n; ++j) {
    if (skip[j]) continue;
    float s = 0.0f;
    for (int d = 0; d < HEAD; ++d) s += __half2float(q[base + i * HEAD + d]) * __half2float(k[base + j * HEAD + d]);
    s *= scale;
    const float next = fmaxf(most, s), fade = __expf(most - next), weight = __expf(s - next);
    total = total * fade + weight;
    for (int d = 0; d < HEAD; ++d) mixed[d] = mixed[d] * fade + weight * __half2float(v[base + j * HEAD + d]);
    most = next;
  }
  for (int d = 0; d < HEAD; ++d) y[base + i * HEAD + d] = __float2half(total > 0.0f ? mixed[d] / total : 0.0f);
}
