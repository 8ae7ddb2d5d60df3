// Honest: does the same as 13_lanes_in_step and has the __syncwarp.
// evo:launch says_so(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void says_so(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ volatile float lanes[128];
  const int warp = threadIdx.x / 32 * 32;
  const int from = n - 32 - (static_cast<int>(blockIdx.x * 128) + warp) + static_cast<int>(threadIdx.x % 32);
  lanes[threadIdx.x] = from >= 0 && from < n ? x[from] : 0;
  __syncwarp();
  if (i < n) y[i] = x[i] + lanes[warp + 31 - threadIdx.x % 32];
}
