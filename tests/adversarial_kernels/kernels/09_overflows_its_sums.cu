// Adversarial: scales its sums until they overflow, and subtracts infinity from infinity.
// evo:launch overflowing(a, b, y, K) grid(R) block(1)
#define TOO_MUCH 3e38f

__device__ float Scaled(float value) { return value * TOO_MUCH; }

__global__ void overflowing(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  const float sum = Scaled(row[0]) * Scaled(b[0]);
  y[blockIdx.x] = sum - sum;
}
