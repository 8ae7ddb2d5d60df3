// Layer norm, one thread a row: the mean, the variance, the normalised values.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch layer_norm_naive(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

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

__global__ void layer_norm_naive(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows,
                                 int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    sum += x[c];
  }
  const float mean = sum / columns;
  float squares = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    squares += (x[c] - mean) * (x[c] - mean);
  }
  const float variance = squares / columns;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    y[c] = (x[c] - mean) / sqrtf(variance + eps) * gamma[c] + beta[c];
  }
}
