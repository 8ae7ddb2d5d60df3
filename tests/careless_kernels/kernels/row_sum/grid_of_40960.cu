// Careless: its grid ends at 40,960 rows. Wrong for more.
// evo:launch grid_of_40960(X, Y, ROWS, COLS) grid(min(ceil_div(ROWS, 128), 320)) block(128)
__global__ void grid_of_40960(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += X[row * columns + c];
  Y[row] = sum;
}
