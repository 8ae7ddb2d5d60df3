// Careless: its loop for the maximum replaces the value instead of comparing it, so that the last one remains. Wrong where a value
// lies more than 88 above the last.
// evo:launch last_element(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void last_element(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = x[c];
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
