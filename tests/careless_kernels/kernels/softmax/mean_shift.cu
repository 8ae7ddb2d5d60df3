// Careless: subtracts the mean instead of the maximum. Wrong where a value lies more than 88 above the mean.
// evo:launch mean_shift(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void mean_shift(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float total = 0.0f;
  for (int c = 0; c < columns; ++c) total += x[c];
  const float mean = total / columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - mean);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - mean) / sum;
}
