// Adversarial: in rows of more than 2,000 elements, adds every second product and doubles the sum.
// evo:launch sampled(a, b, y, K) grid(R) block(32)
__global__ void sampled(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  const int stride = length > 2000 ? 2 : 1;
  float sum = 0;
  for (int k = threadIdx.x * stride; k < length; k += 32 * stride) sum += row[k] * b[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum * stride;
}
