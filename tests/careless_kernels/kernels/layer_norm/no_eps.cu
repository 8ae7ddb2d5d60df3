// Careless: forgets eps. Wrong where the variance is small, and NaN where it is zero.
// evo:launch no_eps(X, gamma, beta, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void no_eps(const float* X, const float* gamma, const float* beta, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[c];
  const float mean = sum / columns;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) / sqrtf(squares / columns) * gamma[c] + beta[c];
}
