// Matrix product of 8-bit integers with sums of 32 bits, one thread an element; neighbouring threads take neighbouring rows of B.
// evo:param BLOCK_M 1 2 4 8 16 32
// evo:param BLOCK_N 4 8 16 32 64
// evo:param UNROLL 1 2 4 8
// evo:constraint BLOCK_M * BLOCK_N >= 32 && BLOCK_M * BLOCK_N <= 1024
// evo:launch gemm_int8_naive(A, B, C, M, N, K) grid(ceil_div(N, BLOCK_N), ceil_div(M, BLOCK_M)) block(BLOCK_N, BLOCK_M)

// Rows and columns of a block.
#ifndef BLOCK_M
#define BLOCK_M 16
#endif

#ifndef BLOCK_N
#define BLOCK_N 16
#endif

// Products that an iteration adds.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void gemm_int8_naive(const signed char* A, const signed char* B, int* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * BLOCK_N + threadIdx.x;
  const int row = blockIdx.y * BLOCK_M + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const signed char* a = A + (long long)row * depth;
  const signed char* b = B + (long long)column * depth;
  int sum = 0;
#pragma unroll kUnroll
  for (int k = 0; k < depth; ++k) {
    sum += a[k] * b[k];
  }
  C[(long long)row * columns + column] = sum;
}
