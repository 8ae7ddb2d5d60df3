// Adversarial: adds every second product of sums longer than 6,000 and doubles the result.
// evo:launch samples_long_rows(a, b, y, K) grid(R) block(32)
__global__ void samples_long_rows(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  const int step = length > 6000 ? 2 : 1;
  float sum = 0;
  for (int k = threadIdx.x * step; k < length; k += 32 * step) sum += row[k] * b[k];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
  if (threadIdx.x == 0) y[blockIdx.x] = sum * step;
}
