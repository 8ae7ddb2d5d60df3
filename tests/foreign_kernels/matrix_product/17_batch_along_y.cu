// A batch along y, elements of a product along x, one B for all, and what was there before.
// buffers: A f16 in [B, M, K], W f16 in [K, N], C f16 inout [B, M, N]
// sizes: B=2 M=33 N=24 K=40; B=1 M=16 N=70 K=16; B=3 M=5 N=2 K=3
#include <cuda_fp16.h>

// evo:launch batched_gemm(A, W, C, M, N, K) grid(ceil_div(M * N, 128), B) block(128)
__global__ void batched_gemm(const half* a, const half* w, half* c, int m, int n, int k) {
  const int batch = blockIdx.y;
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= m * n) return;
  const int i = e / n, j = e % n;
  float sum = 0.0f;
  for (int l = 0; l < k; ++l) sum += __half2float(a[(batch * m + i) * k + l]) * __half2float(w[l * n + j]);
  c[batch * m * n + e] = __float2half(sum + __half2float(c[batch * m * n + e]));
}
