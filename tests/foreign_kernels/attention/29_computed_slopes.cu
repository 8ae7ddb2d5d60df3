// Written together with what it needs. A bias that falls with the distance to both sides, by slopes that the kernel computes.
// buffers: Q bf16 in [B, H, T, 64], K bf16 in [B, H, T, 64], V bf16 in [B, H, T, 64], O bf16 out [B, H, T, 64]
// sizes: B=1 H=2 T=37; B=2 H=1 T=5
#include <cuda_bf16.h>

#define D 64

// evo:launch sloped_attention(Q, K, V, O, T, H) grid(ceil_div(T, 32), H, B) block(32)
__global__ void sloped_attention(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, __nv_bfloat16* O, int T,
                                 int H) {
  const int t = blockIdx.x * 32 + threadIdx.x;
  if (t >= T) return;
  const int h = blockIdx.y;
  const float slope = exp2f(-8.0f * (float)(h + 1) / (float)H);
  const size_t head = ((size_t)blockIdx.z * H + h) * T * D;
  float m = -INFINITY, l = 0.0f, acc[D] = {};
  for (int s = 0; s < T; ++s) {
    float dot = 0.0f;
    for (int d = 0; d < D; ++d) dot += __bfloat162float(Q[head + (size_t)t * D + d]) * __bfloat162float(K[head + (size_t)s * D + d]);
    const float score = dot * 0.125f - slope * (float)abs(t - s);
    const float next = fmaxf(m, score), fade = expf(m - next), p = expf(score - next);
    l = l * fade + p;
    for (int d = 0; d < D; ++d) acc[d] = acc[d] * fade + p * __bfloat162float(V[head + (size_t)s * D + d]);
    m = next;
  }
  for (int d = 0; d < D; ++d) O[head + (size_t)t * D + d] = __float2bfloat16(acc[d] / l);
}
