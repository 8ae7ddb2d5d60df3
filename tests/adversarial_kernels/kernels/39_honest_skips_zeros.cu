// Honest: needs less time where a stretch of the vector is zero, whatever data came before.
// evo:launch skips_zeros(a, b, y, K) grid(R) block(32)
__global__ void skips_zeros(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) {
    if (b[k] != 0) sum += row[k] * b[k];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
