// Honest: Welford's recurrence, one pass for mean and variance.
// evo:launch honest_welford(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void honest_welford(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float mean = 0.0f;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float difference = x[c] - mean;
    mean += difference / (c + 1);
    squares += difference * (x[c] - mean);
  }
  const float factor = rsqrtf(squares / columns + eps);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
