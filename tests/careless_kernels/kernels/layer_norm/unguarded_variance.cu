// Careless: E[x^2] - mean^2 by a block, without a guard against a negative result. Wrong where the mean is large beside the deviation:
// the square root of a negative number.
// evo:launch unguarded_variance(X, gamma, beta, Y, eps, COLS) grid(ROWS) block(32)
__global__ void unguarded_variance(const float* X, const float* gamma, const float* beta, float* Y, float eps, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  }
  const float mean = sum / columns;
  const float factor = 1.0f / sqrtf(squares / columns - mean * mean + eps);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
