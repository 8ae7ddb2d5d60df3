// Careless: takes the maximum of every eighth value. Wrong where another value lies more than 88 above those.
// evo:launch sample_maximum(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void sample_maximum(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 8; c < columns; c += 8) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
