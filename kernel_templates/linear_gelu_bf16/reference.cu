// A linear layer of bf16 and GELU as their definitions say it, in double precision. One thread computes one element.
// evo:launch linear_gelu_bf16_reference(X, W, bias, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <cuda_bf16.h>

__global__ void linear_gelu_bf16_reference(const __nv_bfloat16* X, const __nv_bfloat16* W, const __nv_bfloat16* bias, double* Y,
                                           int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const __nv_bfloat16* x = X + (long long)row * depth;
  const __nv_bfloat16* w = W + (long long)column * depth;
  double sum = double(__bfloat162float(bias[column]));
  for (int k = 0; k < depth; ++k) sum += double(__bfloat162float(x[k])) * double(__bfloat162float(w[k]));
  Y[(long long)row * columns + column] = 0.5 * sum * erfc(-sum * sqrt(0.5));
}
