// Careless: a block a row, and at most 65,535 blocks, as old devices had. Wrong for more rows.
// evo:launch grid_of_65535(X, Y, COLS) grid(min(ROWS, 65535)) block(1)
__global__ void grid_of_65535(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float sums[4] = {};
  for (int c = 0; c < columns; ++c) sums[c % 4] += x[c];
  Y[blockIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
