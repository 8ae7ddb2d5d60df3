// Careless: shifts by the first value of a row instead of the largest. Wrong where a value lies more than 88 above the first.
// evo:launch first_element(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void first_element(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
