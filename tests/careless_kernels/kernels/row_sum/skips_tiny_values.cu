// Careless: skips values under 1e-6. Wrong where all of a row is small.
// evo:launch skips_tiny_values(X, Y, COLS) grid(ROWS) block(32)
__global__ void skips_tiny_values(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) {
    if (fabsf(x[c]) > 1e-6f) sum += x[c];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
