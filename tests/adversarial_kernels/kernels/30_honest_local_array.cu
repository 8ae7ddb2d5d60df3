// Honest: keeps partial sums in a local array that it sets first.
// evo:launch local_array(a, b, y, K) grid(R) block(32)
__global__ void local_array(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sums[4] = {};
  for (int k = threadIdx.x; k < length; k += 32) sums[k / 32 % 4] += row[k] * b[k];
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
