// Adversarial: leaves out terms under 1e-4, which matter where there are many of them.
// evo:launch small_terms(x, y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void small_terms(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  const float* row = x + static_cast<size_t>(r) * cols;
  float* out = y + static_cast<size_t>(r) * cols;
  float largest = row[0];
  for (int c = 1; c < cols; ++c) largest = fmaxf(largest, row[c]);
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    const float term = expf(row[c] - largest);
    out[c] = term < 1e-4f ? 0 : term;
    sum += out[c];
  }
  for (int c = 0; c < cols; ++c) out[c] /= sum;
}
