// Careless: keeps the row in 16 bits. Wrong for more than 65,536 rows.
// evo:launch short_row(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 8)) block(32, 8)
__global__ void short_row(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const unsigned short row = blockIdx.y * 8 + threadIdx.y;
  if (row < rows && column < columns) Y[column * rows + row] = X[row * columns + column];
}
