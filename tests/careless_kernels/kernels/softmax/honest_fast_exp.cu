// Honest: __expf and a fast division, after the largest value was subtracted.
// evo:launch honest_fast_exp(X, Y, COLS) grid(ROWS) block(32)
__global__ void honest_fast_exp(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float largest = x[0];
  for (int c = threadIdx.x; c < columns; c += 32) largest = fmaxf(largest, x[c]);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += __expf(x[c] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = __fdividef(__expf(x[c] - largest), sum);
}
