// Careless: carries the values in fp16. Wrong for all that are no fp16 numbers.
// evo:launch through_half(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 8)) block(32, 8)
#include <cuda_fp16.h>

__global__ void through_half(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row < rows && column < columns) Y[column * rows + row] = __half2float(__float2half(X[row * columns + column]));
}
