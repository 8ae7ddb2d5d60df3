// Careless: its maximum begins at -1000. Wrong for rows that lie below -1104: the sum is zero.
// evo:launch low_start(X, Y, COLS) grid(ROWS) block(32)
__global__ void low_start(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float largest = -1000.0f;
  for (int c = threadIdx.x; c < columns; c += 32) largest = fmaxf(largest, x[c]);
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += __expf(x[c] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = __fdividef(__expf(x[c] - largest), sum);
}
