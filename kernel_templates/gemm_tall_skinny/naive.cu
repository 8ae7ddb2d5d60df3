// Product of a tall matrix and a small one, one thread an element; neighbouring threads take neighbouring columns.
// evo:param BLOCK_M 1 2 4 8 16 32
// evo:param BLOCK_N 8 16 32 64
// evo:param UNROLL 1 2 4 8
// evo:constraint BLOCK_M * BLOCK_N >= 32 && BLOCK_M * BLOCK_N <= 1024
// evo:launch gemm_tall_skinny_naive(A, B, C, M, N, K) \
//   grid(ceil_div(M, BLOCK_M), ceil_div(N, BLOCK_N)) block(BLOCK_N, BLOCK_M)

// Rows and columns of a block.
#ifndef BLOCK_M
#define BLOCK_M 8
#endif

#ifndef BLOCK_N
#define BLOCK_N 32
#endif

// Products that an iteration adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void gemm_tall_skinny_naive(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.y * BLOCK_N + threadIdx.x;
  const int row = blockIdx.x * BLOCK_M + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float* a = A + (long long)row * depth;
  const float* b = B + column;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int k = 0; k < depth; ++k) {
    sum += a[k] * b[(long long)k * columns];
  }
  C[(long long)row * columns + column] = sum;
}
