// Honest: is more precise than required.
// evo:launch compensated(a, b, y, K) grid(R) block(32)
__global__ void compensated(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  float lost = 0;
  for (int k = threadIdx.x; k < length; k += 32) {
    const float term = row[k] * b[k] - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
