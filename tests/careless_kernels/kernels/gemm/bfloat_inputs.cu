// Careless: rounds the inputs to bf16. Wrong for every matrix by 2e-3.
// evo:launch bfloat_inputs(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
#include <cuda_bf16.h>

__device__ float Rounded(float x) { return __bfloat162float(__float2bfloat16(x)); }

__global__ void bfloat_inputs(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += Rounded(A[(long long)row * depth + k]) * Rounded(B[(long long)k * columns + column]);
  C[(long long)row * columns + column] = sum;
}
