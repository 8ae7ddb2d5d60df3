// Careless: takes a square matrix for a symmetric one and copies it as it is. Wrong for square matrices.
// evo:launch square_is_symmetric(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 8)) block(32, 8)
__global__ void square_is_symmetric(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  Y[rows == columns ? row * columns + column : column * rows + row] = X[row * columns + column];
}
