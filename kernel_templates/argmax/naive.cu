// Index of the first largest element of each row, one thread a row.
// evo:param BLOCK 32 64 128 256 512
// evo:param UNROLL 1 2 4 8 16
// evo:launch argmax_naive(X, Y, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

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

__global__ void argmax_naive(const float* X, int* Y, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float largest = x[0];
  int place = 0;
#pragma unroll kUnroll
  for (int c = 1; c < columns; ++c) {
    if (x[c] > largest) {
      largest = x[c];
      place = c;
    }
  }
  Y[row] = place;
}
