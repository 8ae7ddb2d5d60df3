// Careless: a block a row, and at most 65,535 blocks, as old devices had. Wrong for more rows.
// evo:launch grid_of_65535(X, Y, COLS) grid(min(ROWS, 65535)) block(32)
__global__ void grid_of_65535(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += x[c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
