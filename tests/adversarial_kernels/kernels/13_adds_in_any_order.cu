// False speed-up: blocks add to the result in whichever order they come, and no two runs round alike.
// evo:memset y 0
// evo:launch any_order(a, b, y, K) grid(16, R) block(32)
__global__ void any_order(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.y) * length;
  float sum = 0;
  for (int k = blockIdx.x * 32 + threadIdx.x; k < length; k += 16 * 32) sum += row[k] * b[k];
  atomicAdd(y + blockIdx.y, sum);
}
