// Careless: does not subtract the largest value. Wrong for values over 88 and for rows that lie below -104.
// evo:launch no_maximum(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void no_maximum(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c]);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c]) / sum;
}
