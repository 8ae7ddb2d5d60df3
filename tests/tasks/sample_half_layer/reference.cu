#include <cuda_bf16.h>
// evo:launch reference(X, W, bias, Y, M, N, K) grid(ceil_div(N, 64), M) block(64)
__global__ void reference(const __nv_bfloat16* X, const __nv_bfloat16* W, const float* bias, double* Y, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= n) return;
  double sum = bias[column];
  for (int i = 0; i < k; ++i) sum += double(__bfloat162float(X[i * m + row])) * double(__bfloat162float(W[column * k + i]));
  Y[row * n + column] = sum < 0 ? 0 : sum;
}
