// Careless: takes the variance as E[x^2] - mean^2. Wrong where the mean is large beside the deviation.
// evo:launch difference_of_squares(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void difference_of_squares(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  const float mean = sum / columns;
  const float variance = fmaxf(squares / columns - mean * mean, 0.0f);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * rsqrtf(variance + eps) * gamma[c] + beta[c];
}
