// Careless: adds eps to the standard deviation instead of the variance. Wrong where the variance is small.
// evo:launch eps_outside(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void eps_outside(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[c];
  const float mean = sum / columns;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) / (sqrtf(squares / columns) + eps) * gamma[c] + beta[c];
}
