// Rows in fp16 to integers of 8 bits, one thread a row: the largest magnitude, the scale, the rounded quotients.
#include <cuda_fp16.h>
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8
// evo:launch quantize_int8_naive(X, Q, S, ROWS, COLS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

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

__global__ void quantize_int8_naive(const half* X, signed char* Q, float* S, int rows, int columns) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const half* x = X + (long long)row * columns;
  signed char* q = Q + (long long)row * columns;
  float largest = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    largest = fmaxf(largest, fabsf(__half2float(x[c])));
  }
  const float scale = largest / 127.0f;
  S[row] = scale;
#pragma unroll kUnroll
  for (int c = 0; c < columns; ++c) {
    q[c] = scale > 0.0f ? (signed char)rintf(__half2float(x[c]) / scale) : 0;
  }
}
