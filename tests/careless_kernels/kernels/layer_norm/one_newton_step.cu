// Careless: the reciprocal square root by bits and one Newton step, where it takes three. Wrong for every row by up to 2e-3.
// evo:launch one_newton_step(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__device__ float InverseRoot(float x) {
  const float estimate = __int_as_float(0x5f3759df - (__float_as_int(x) >> 1));
  return estimate * (1.5f - 0.5f * x * estimate * estimate);
}

__global__ void one_newton_step(const float* X, const float* gamma, const float* beta, float* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[c];
  const float mean = sum / columns;
  float squares = 0.0f;
  for (int c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
  const float factor = InverseRoot(squares / columns + eps);
  for (int c = 0; c < columns; ++c) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
