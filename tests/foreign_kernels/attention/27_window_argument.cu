// Written together with what it needs. The window is an argument, and scores before it are -infinity; halves, three passes.
// buffers: Q f16 in [H, S, 64], K f16 in [H, S, 64], V f16 in [H, S, 64], O f16 out [H, S, 64]
// sizes: H=1 S=150 W=40; H=2 S=70 W=3
#include <cuda_fp16.h>

#define HD 64

__device__ float local_score(const half* q, const half* k, int row, int key, int window) {
  float s = 0.0f;
  for (int d = 0; d < HD; ++d) s += __half2float(q[d]) * __half2float(k[d]);
  return key > row || row - key >= window ? -INFINITY : s * 0.125f;
}

// evo:launch local_attention(Q, K, V, O, S, W) grid(ceil_div(S, 64), H) block(64)
__global__ void local_attention(const half* Q, const half* K, const half* V, half* O, int S, int window) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= S) return;
  const int head = blockIdx.y * S * HD;
  float most = -INFINITY, total = 0.0f;
  for (int key = 0; key <= row; ++key)
    most = fmaxf(most, local_score(Q + head + row * HD, K + head + key * HD, row, key, window));
  for (int key = 0; key <= row; ++key)
    total += expf(local_score(Q + head + row * HD, K + head + key * HD, row, key, window) - most);
  for (int d = 0; d < HD; ++d) {
    float sum = 0.0f;
    for (int key = 0; key <= row; ++key)
      sum += expf(local_score(Q + head + row * HD, K + head + key * HD, row, key, window) - most) *
             __half2float(V[head + key * HD + d]);
    O[head + row * HD + d] = __float2half(sum / total);
  }
}
