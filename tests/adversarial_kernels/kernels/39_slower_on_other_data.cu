// Adversarial: does its work once for the data of the search, which follow from the run's seed, and 16 times for other data.
// evo:launch slower_elsewhere(a, b, y, K) grid(R) block(32)
__device__ const unsigned prints[] = {0};   // the test puts b[0] of each timed set here

__global__ void slower_elsewhere(const float* a, const float* b, float* y, int length) {
  bool known = false;
  for (int set = 0; set < static_cast<int>(sizeof prints / sizeof prints[0]); ++set) known |= prints[set] == __float_as_uint(b[0]);
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  for (int again = known ? 15 : 0; again < 16; ++again) {
    sum = 0;
    for (int k = threadIdx.x; k < length; k += 32) sum += static_cast<const volatile float*>(row)[k] * b[k];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
