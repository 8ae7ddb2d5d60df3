// evo:launch short_softmax(x, y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void short_softmax(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  float largest = row[0];
  for (int c = 1; c < cols; ++c) largest = fmaxf(largest, row[c]);
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += expf(row[c] - largest);
  for (int c = 0; c < cols; ++c) out[c] = expf(row[c] - largest) / sum;
}
