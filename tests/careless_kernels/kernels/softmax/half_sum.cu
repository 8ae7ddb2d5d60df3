// Careless: adds up in fp16. Wrong for long rows: the sum stops growing at 2,048 and is off by 1e-3 before.
// evo:launch half_sum(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
#include <cuda_fp16.h>

__global__ void half_sum(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  half sum = __float2half(0.0f);
  for (int c = 0; c < columns; ++c) sum = __hadd(sum, __float2half(expf(x[c] - largest)));
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / __half2float(sum);
}
