#include <cuda_fp16.h>
// evo:launch reference(A, B, C, M, N, K) grid(ceil_div(N, 64), M) block(64)
__global__ void reference(const half* A, const half* B, double* C, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i) sum += double(__half2float(A[row * k + i])) * double(__half2float(B[i * n + column]));
  C[row * n + column] = sum;
}
