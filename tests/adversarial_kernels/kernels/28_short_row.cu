// Adversarial: keeps the row in 16 bits, so that rows past 65,535 are not written.
// evo:launch short_row(a, b, y, K) grid(R) block(32)
__global__ void short_row(const float* a, const float* b, float* y, int length) {
  const unsigned short r = blockIdx.x;
  const float* row = a + static_cast<size_t>(r) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += row[k] * b[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[r] = sum;
}
