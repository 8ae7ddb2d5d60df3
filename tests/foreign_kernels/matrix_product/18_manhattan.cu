// Sums of absolute differences and of their squares, of two kinds of numbers.
// buffers: P f32 in [M, K], Q f16 in [N, K], D f32 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=9
#include <cuda_fp16.h>

// evo:launch distances(P, Q, D, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void distances(const float* p, const half* q, float* d, int m, int n, int dims) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float total = 0.0f;
  for (int k = 0; k < dims; ++k) {
    const float right = __half2float(q[col * dims + k]);
    const float away = p[row * dims + k] - right;
    total += fabsf(away) + 0.5f * away * away;
  }
  d[row * n + col] = total;
}
