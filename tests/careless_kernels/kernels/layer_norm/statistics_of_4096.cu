// Careless: takes the mean and the variance of the first 4,096 columns. Wrong for longer rows.
// evo:launch statistics_of_4096(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void statistics_of_4096(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  const int seen = min(columns, 4096);
  float sum = 0.0f;
  for (int c = 0; c < seen; ++c) sum += x[c];
  const float mean = sum / seen;
  float squares = 0.0f;
  for (int c = 0; c < seen; ++c) squares += (x[c] - mean) * (x[c] - mean);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) / sqrtf(squares / seen + eps) * gamma[c] + beta[c];
}
