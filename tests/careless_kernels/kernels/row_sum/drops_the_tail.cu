// Careless: adds four columns at a time and forgets those that remain. Wrong where the columns are no multiple of 4.
// evo:launch drops_the_tail(X, Y, COLS) grid(ROWS) block(32)
__global__ void drops_the_tail(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = 4 * threadIdx.x; c + 3 < columns; c += 128) sum += (x[c] + x[c + 1]) + (x[c + 2] + x[c + 3]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
