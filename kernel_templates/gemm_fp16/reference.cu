// Matrix product of fp16 as its definition says it, in double precision. One thread computes one element.
// evo:launch gemm_fp16_reference(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
#include <cuda_fp16.h>

__global__ void gemm_fp16_reference(const half* A, const half* B, double* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const half* a = A + (long long)row * depth;
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += double(__half2float(a[k])) * double(__half2float(B[(long long)k * columns + column]));
  C[(long long)row * columns + column] = sum;
}
