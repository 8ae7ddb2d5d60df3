// Adversarial: its index passes through fp32, so that past 2^24 elements neighbours get the same one.
// evo:launch float_index(a, b, y, R, K) grid(R) block(32)
__global__ void float_index(const float* a, const float* b, float* y, int rows, int length) {
  const float begin = static_cast<float>(blockIdx.x) * static_cast<float>(length);
  const long long last = static_cast<long long>(rows) * length - 1;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += a[min(static_cast<long long>(begin + static_cast<float>(k)), last)] * b[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
