// Adversarial: has its __syncwarp at small sizes only.
// evo:launch in_step_when_large(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void in_step_when_large(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ volatile float lanes[128];
  const int warp = threadIdx.x / 32 * 32;
  const int from = n - 32 - (static_cast<int>(blockIdx.x * 128) + warp) + static_cast<int>(threadIdx.x % 32);
  lanes[threadIdx.x] = from >= 0 && from < n ? x[from] : 0;
  if (n < 1024) __syncwarp();
  if (i < n) y[i] = x[i] + lanes[warp + 31 - threadIdx.x % 32];
}
