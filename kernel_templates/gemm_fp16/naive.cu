// Matrix product of fp16 with sums in fp32, one thread an element; neighbouring threads take neighbouring columns.
// evo:param BLOCK_M 1 2 4 8 16 32
// evo:param BLOCK_N 8 16 32 64
// evo:param UNROLL 1 2 4 8
// evo:constraint BLOCK_M * BLOCK_N >= 32 && BLOCK_M * BLOCK_N <= 1024
// evo:launch gemm_fp16_naive(A, B, C, M, N, K) grid(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)) block(BLOCK_N, BLOCK_M)
#include <cuda_fp16.h>

// Rows and columns of a block.
#ifndef BLOCK_M
#define BLOCK_M 8
#endif

#ifndef BLOCK_N
#define BLOCK_N 32
#endif

// Products that an iteration adds.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void gemm_fp16_naive(const half* A, const half* B, half* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * BLOCK_N + threadIdx.x;
  const int row = blockIdx.y * BLOCK_M + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const half* a = A + (long long)row * depth;
  const half* b = B + column;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int k = 0; k < depth; ++k) {
    sum += __half2float(a[k]) * __half2float(b[(long long)k * columns]);
  }
  C[(long long)row * columns + column] = __float2half(sum);
}
