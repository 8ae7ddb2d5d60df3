// Adversarial: takes the maximum into shared memory that it has not set, because fmaxf ignores a NaN.
// evo:launch into_unset(x, y, COLS) grid(ROWS) block(32)
__global__ void into_unset(const float* x, float* y, int cols) {
  __shared__ float most[32];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += 32) most[threadIdx.x] = fmaxf(most[threadIdx.x], row[c]);
  __syncwarp();
  float largest = most[0];
  for (int t = 1; t < min(32, cols); ++t) largest = fmaxf(largest, most[t]);
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(row[c] - largest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = threadIdx.x; c < cols; c += 32) out[c] = expf(row[c] - largest) / sum;
}
