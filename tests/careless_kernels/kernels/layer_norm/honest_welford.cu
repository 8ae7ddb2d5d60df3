// Honest: Welford's recurrence, a warp a row, one pass for mean and variance; the lanes' results are merged as Chan and others do.
// One chain over a whole row would be careless: where the mean is large, its rounding swallows what late elements add.
// evo:launch honest_welford(X, gamma, beta, Y, eps, COLS) grid(ROWS) block(32)
__global__ void honest_welford(const float* X, const float* gamma, const float* beta, float* Y, float eps, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float count = 0.0f;
  float mean = 0.0f;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) {
    const float difference = x[c] - mean;
    count += 1.0f;
    mean += difference / count;
    squares += difference * (x[c] - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffffu, count, offset);
    const float other_mean = __shfl_xor_sync(0xffffffffu, mean, offset);
    const float other_squares = __shfl_xor_sync(0xffffffffu, squares, offset);
    const float both = count + other_count;
    if (both == 0.0f) continue;
    // Written so that both lanes of a pair get the same mean.
    const float difference = other_mean - mean;
    mean = (count * mean + other_count * other_mean) / both;
    squares += other_squares + difference * difference * (count * other_count / both);
    count = both;
  }
  const float factor = rsqrtf(squares / columns + eps);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
