// Careless: its sum begins at 1e-3, against a division by zero that cannot happen. Wrong where one value takes most of a row.
// evo:launch epsilon_sum(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void epsilon_sum(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 1e-3f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
