// Careless: adds up the first 4,096 columns only. Wrong for longer rows.
// evo:launch sum_of_4096(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void sum_of_4096(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < min(columns, 4096); ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
