// Honest: compensated addition, one thread a row.
// evo:launch honest_kahan(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void honest_kahan(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int c = 0; c < columns; ++c) {
    const float term = x[c] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  Y[row] = sum;
}
