// Softmax, one thread a row: the largest value, the sum, the quotients.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch softmax_naive(X, Y, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

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

__global__ void softmax_naive(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
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
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    y[c] = expf(x[c] - largest) / sum;
  }
}
