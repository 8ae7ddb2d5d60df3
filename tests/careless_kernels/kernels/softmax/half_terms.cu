// Careless: keeps the exponentials in fp16 between the two passes. Wrong for every row by 2e-4, and by more for small terms.
// evo:workspace terms f16 [ROWS, COLS]
// evo:launch half_terms(X, terms, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
#include <cuda_fp16.h>

__global__ void half_terms(const float* X, half* terms, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  half* mine = terms + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    mine[c] = __float2half(expf(x[c] - largest));
    sum += __half2float(mine[c]);
  }
  for (int c = 0; c < columns; ++c) y[c] = __half2float(mine[c]) / sum;
}
