// Careless: subtracts the largest magnitude instead of the largest value. Wrong for rows far below zero: all terms are zero, and so is
// the sum that it divides by.
// evo:launch largest_magnitude(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void largest_magnitude(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = 0.0f;
  for (int c = 0; c < columns; ++c) largest = fmaxf(largest, fabsf(x[c]));
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
