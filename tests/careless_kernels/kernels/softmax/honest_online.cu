// Honest: one pass for the maximum and the sum, which is rescaled whenever the maximum grows; lanes are combined at the end.
// evo:launch honest_online(X, Y, COLS) grid(ROWS) block(32)
__global__ void honest_online(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float largest = -3.0e38f;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) {
    const float next = fmaxf(largest, x[c]);
    sum = sum * expf(largest - next) + expf(x[c] - next);
    largest = next;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, largest, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, offset);
    const float next = fmaxf(largest, other);
    sum = sum * expf(largest - next) + other_sum * expf(other - next);
    largest = next;
  }
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = expf(x[c] - largest) / sum;
}
