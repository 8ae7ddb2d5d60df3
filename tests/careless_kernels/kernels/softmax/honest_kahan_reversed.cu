// Honest: adds from the last column to the first, and keeps what each addition loses.
// evo:launch honest_kahan_reversed(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void honest_kahan_reversed(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float largest = x[columns - 1];
  for (int c = columns - 2; c >= 0; --c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  float lost = 0.0f;
  for (int c = columns - 1; c >= 0; --c) {
    const float term = expf(x[c] - largest) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) / sum;
}
