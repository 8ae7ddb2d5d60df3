// The logarithm of the softmax, one thread a row: the largest value, the sum, the differences.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch log_softmax_naive(X, Y, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 64
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void log_softmax_naive(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float largest = x[0];
#pragma unroll kUnroll
  for (int c = 1; c < columns; ++c) {
    largest = fmaxf(largest, x[c]);
  }
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    sum += expf(x[c] - largest);
  }
  const float logarithm = logf(sum);
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    y[c] = x[c] - largest - logarithm;
  }
}
