// Cumulative sums along rows, one thread a row.
// evo:param BLOCK 32 64 128 256 512
// evo:param UNROLL 1 2 4 8 16
// evo:launch cumulative_sum_naive(X, Y, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void cumulative_sum_naive(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    sum += x[c];
    y[c] = sum;
  }
}
