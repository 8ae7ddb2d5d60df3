// Careless: adds up in fp16. Wrong for every matrix by 1e-3, and where a sum exceeds 65,504.
// evo:launch half_accumulator(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
#include <cuda_fp16.h>

__global__ void half_accumulator(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  half sum = __float2half(0.0f);
  for (int k = 0; k < depth; ++k) {
    sum = __hadd(sum, __float2half(A[(long long)row * depth + k] * B[(long long)k * columns + column]));
  }
  C[(long long)row * columns + column] = __half2float(sum);
}
