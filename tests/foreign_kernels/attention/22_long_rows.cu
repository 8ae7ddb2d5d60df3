// Rows of 256 elements, bounds of the block, an exponential of base two.
// buffers: Q bf16 in [B, N, 256], K bf16 in [B, M, 256], V bf16 in [B, M, 256], O bf16 out [B, N, 256]
// sizes: B=1 N=19 M=35; B=2 N=5 M=9
#include <cuda_bf16.h>

constexpr int kWide = 256;
constexpr int kBlock = 64;

// evo:launch wide_attention(Q, K, V, O, N, M) grid(ceil_div(N, 64), B) block(64)
__global__ void __launch_bounds__(kBlock) wide_attention(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V,
                                                         __nv_bfloat16* O, int n, int m) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat16* query = Q + (blockIdx.y * n + i) * kWide;
  float top = -INFINITY, total = 0.0f, row[kWide] = {};
  for (int j = 0; j < m; ++j) {
    const __nv_bfloat16* key = K + (blockIdx.y * m + j) * kWide;
    const __nv_bfloat16* value = V + (blockIdx.y * m + j) * kWide;
    float score = 0.0f;
    for (int d = 0; d < kWide; ++d) score += __bfloat162float(query[d]) * __bfloat162float(key[d]);
    score *= 0.0625f * 1.44269504f;
    const float higher = fmaxf(top, score);
    const float shrink = exp2f(top - higher), weight = exp2f(score - higher);
    total = total * shrink + weight;
    for (int d = 0; d < kWide; ++d) row[d] = row[d] * shrink + weight * __bfloat162float(value[d]);
    top = higher;
  }
  for (int d = 0; d < kWide; ++d) O[(blockIdx.y * n + i) * kWide + d] = __float2bfloat16(row[d] / total);
}
