// Two halves at a time with sums that are halves, which are rounded in each step.
// buffers: A f16 in [M, K], B f16 in [N, K], C f16 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=2
#include <cuda_fp16.h>

// evo:launch hgemm2(A, B, C, M, N, K / 2) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void hgemm2(const half2* A, const half2* B, half* C, int M, int N, int K2) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  half2 sums = __float2half2_rn(0.0f);
  for (int k = 0; k < K2; ++k) sums = __hfma2(A[m * K2 + k], B[n * K2 + k], sums);
  C[m * N + n] = __hadd(__low2half(sums), __high2half(sums));
}
