// RMS norm, one thread a row: the sum of the squares, the scaled values.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch rms_norm_naive(X, gamma, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

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

__global__ void rms_norm_naive(const float* X, const float* gamma, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float squares = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    squares += x[c] * x[c];
  }
  const float rms = sqrtf(squares / columns + eps);
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    y[c] = x[c] / rms * gamma[c];
  }
}
