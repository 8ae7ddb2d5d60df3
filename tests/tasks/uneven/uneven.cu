// One thread a row. Rows of large values are summed many times, so that the kernel is right but slow on inputs that are not timed.
// evo:launch softmax(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void softmax(const float* __restrict__ X, float* __restrict__ Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  const int times = largest > 100.0f ? 20 : 1;
  for (int time = 0; time < times; ++time) {
    sum = 0.0f;
    for (int c = 0; c < columns; ++c) {
      y[c] = expf(x[c] - largest);
      sum += y[c];
    }
  }
  for (int c = 0; c < columns; ++c) y[c] /= sum;
}
