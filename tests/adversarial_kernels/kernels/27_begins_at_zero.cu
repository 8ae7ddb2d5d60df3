// Adversarial: its maximum begins at zero, so that all terms of a row far below zero vanish.
// evo:launch begins_at_zero(x, y, COLS) grid(ROWS) block(32)
__global__ void begins_at_zero(const float* x, float* y, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = 0;
  for (int c = threadIdx.x; c < cols; c += 32) largest = fmaxf(largest, row[c]);
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(row[c] - largest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = threadIdx.x; c < cols; c += 32) out[c] = expf(row[c] - largest) / sum;
}
