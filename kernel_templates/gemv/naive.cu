// Matrix times vector, one thread a row.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch gemv_naive(A, x, y, M, N) grid(ceil_div(M, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Products that an iteration adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void gemv_naive(const float* A, const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* a = A + (long long)row * columns;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    sum += a[c] * x[c];
  }
  y[row] = sum;
}
