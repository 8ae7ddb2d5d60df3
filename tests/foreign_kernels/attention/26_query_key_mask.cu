// Written together with what it needs. A mask of queries and keys, -1e9 as the score of what it hides; halves, causal as well.
// buffers: Q f16 in [B, H, N, 64], K f16 in [B, H, N, 64], V f16 in [B, H, N, 64], allow i32<2 in [B, N, N], O f16 out [B, H, N, 64]
// sizes: B=1 H=2 N=35; B=2 H=1 N=4
#include <cuda_fp16.h>

constexpr int D = 64;

// evo:launch masked_rows(Q, K, V, allow, O, N, f32(0.125)) grid(ceil_div(N, 32), H, B) block(32)
__global__ void masked_rows(const half* Q, const half* K, const half* V, const int* allow, half* O, int N, float scale) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  const size_t head = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * N * D;
  const int* allowed = allow + ((size_t)blockIdx.z * N + row) * N;
  float most = -INFINITY, total = 0.0f, out[D] = {};
  for (int key = 0; key <= row; ++key) {
    float score = 0.0f;
    for (int d = 0; d < D; ++d) score += __half2float(Q[head + row * D + d]) * __half2float(K[head + key * D + d]);
    score *= scale;
    if (allowed[key] == 0) score = -1e9f;
    const float next = fmaxf(most, score), fade = expf(most - next), weight = expf(score - next);
    total = total * fade + weight;
    for (int d = 0; d < D; ++d) out[d] = out[d] * fade + weight * __half2float(V[head + key * D + d]);
    most = next;
  }
  for (int d = 0; d < D; ++d) O[head + row * D + d] = __float2half(out[d] / total);
}
