// Adversarial: its blocks add to the result in the order in which they arrive, so that rounding differs from run to run.
// evo:memset y 0
// evo:launch any_order(a, b, y, K) grid(16, R) block(32)
__global__ void any_order(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.y) * length;
  float sum = 0;
  for (int k = blockIdx.x * 32 + threadIdx.x; k < length; k += 16 * 32) sum += row[k] * b[k];
  atomicAdd(y + blockIdx.y, sum);
}
