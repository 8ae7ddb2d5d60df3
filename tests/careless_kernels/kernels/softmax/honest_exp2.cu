// Honest: powers of two, with the factor log2(e) on the difference to the largest value.
// evo:launch honest_exp2(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void honest_exp2(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    y[c] = exp2f((x[c] - largest) * 1.44269504f);
    sum += y[c];
  }
  const float inverse = 1.0f / sum;
  for (int c = 0; c < columns; ++c) y[c] *= inverse;
}
