// Honest: a warp a row, sums by shuffles, the variance of the differences, rsqrtf.
// evo:launch honest_two_passes(X, gamma, beta, Y, eps, COLS) grid(ROWS) block(32)
__device__ float WarpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void honest_two_passes(const float* X, const float* gamma, const float* beta, float* Y, float eps, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += x[c];
  const float mean = WarpSum(sum) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) squares = fmaf(x[c] - mean, x[c] - mean, squares);
  const float factor = rsqrtf(WarpSum(squares) / columns + eps);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = fmaf((x[c] - mean) * factor, gamma[c], beta[c]);
}
