// Careless: one pass over the differences to the first value, and then the difference of squares. Wrong where the first value lies far
// from the others.
// evo:launch shifted_by_first(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void shifted_by_first(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  const float shift = x[0];
  float sum = 0.0f;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) {
    sum += x[c] - shift;
    squares += (x[c] - shift) * (x[c] - shift);
  }
  const float mean = sum / columns;
  const float variance = fmaxf(squares / columns - mean * mean, 0.0f);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - shift - mean) * rsqrtf(variance + eps) * gamma[c] + beta[c];
}
