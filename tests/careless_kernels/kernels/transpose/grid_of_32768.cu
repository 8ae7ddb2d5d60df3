// Careless: its grid ends at 32,768 rows. Wrong for more.
// evo:launch grid_of_32768(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), min(ceil_div(ROWS, 8), 4096)) block(32, 8)
__global__ void grid_of_32768(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row < rows && column < columns) Y[column * rows + row] = X[row * columns + column];
}
