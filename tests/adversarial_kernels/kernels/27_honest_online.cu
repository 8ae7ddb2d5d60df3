// Honest: one pass for maximum and sum, which is rescaled when the maximum grows.
// evo:launch online(x, y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void online(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  float largest = -3e38f;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    const float next = fmaxf(largest, row[c]);
    sum = sum * expf(largest - next) + expf(row[c] - next);
    largest = next;
  }
  for (int c = 0; c < cols; ++c) out[c] = expf(row[c] - largest) / sum;
}
