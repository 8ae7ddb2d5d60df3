// Careless: clamps the argument of expf at 80 instead of subtracting the maximum. Wrong where a value lies more than 80 above the first.
// evo:launch clamped_argument(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void clamped_argument(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(fminf(x[c] - x[0], 80.0f));
  for (int c = 0; c < columns; ++c) y[c] = expf(fminf(x[c] - x[0], 80.0f)) / sum;
}
