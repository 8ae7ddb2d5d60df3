// Careless: computes the index in fp32, which cannot tell neighbours apart past 2^24. Wrong for larger matrices.
// evo:launch float_index(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 8)) block(32, 8)
__global__ void float_index(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float from = (float)row * (float)columns + (float)column;
  Y[column * rows + row] = X[min((int)from, rows * columns - 1)];
}
