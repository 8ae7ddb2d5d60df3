// Honest: the mean by compensated addition, the variance in four partial sums.
// evo:launch honest_kahan_mean(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void honest_kahan_mean(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float term = x[c] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  const float mean = sum / columns;
  float squares[4] = {};
  for (int c = 0; c < columns; ++c) squares[c % 4] += (x[c] - mean) * (x[c] - mean);
  const float variance = ((squares[0] + squares[1]) + (squares[2] + squares[3])) / columns;
  const float factor = 1.0f / sqrtf(variance + eps);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
