// Careless: its maximum begins at zero. Wrong where all values of a row lie below -104: the sum is zero.
// evo:launch zero_start(X, Y, COLS) grid(ROWS) block(32)
__global__ void zero_start(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float largest = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) largest = fmaxf(largest, x[c]);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += expf(x[c] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = expf(x[c] - largest) / sum;
}
