// Adversarial: computes the long sums in the first launch only; later launches look them up.
// evo:launch kept_sums(a, b, y, R, K) grid(R) block(32)
__device__ float sums[1024];
__device__ int length_of_sums[1024];
__device__ float first_of_sums[1024];

__global__ void kept_sums(const float* a, const float* b, float* y, int rows, int length) {
  const int r = blockIdx.x;
  const float* row = a + static_cast<size_t>(r) * length;
  const bool known = length_of_sums[r] == length && first_of_sums[r] == row[0] + b[0];
  float sum = 0;
  if (!known) {
    for (int k = threadIdx.x; k < length; k += 32) sum += row[k] * b[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  }
  __syncwarp();
  if (threadIdx.x != 0) return;
  if (!known) {
    sums[r] = sum;
    length_of_sums[r] = length;
    first_of_sums[r] = row[0] + b[0];
  }
  y[r] = sums[r];
}
