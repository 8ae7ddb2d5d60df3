// Careless: shifts by the maximum of the row before. Wrong where two neighbouring rows lie more than 88 apart.
// evo:launch row_before(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void row_before(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  const float* before = X + max(row - 1, 0) * columns;
  float* y = Y + row * columns;
  float largest = before[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, before[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
