// Honest: counts blocks in a device variable, which is zero again when the launch ends.
// evo:launch last_block_finishes(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ unsigned ticket;

__global__ void last_block_finishes(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i] + x[n - 1 - i];
  if (threadIdx.x != 0) return;
  // Wraps to 0 in the last block of each launch.
  if (atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1) y[0] = x[0] + x[n - 1];
}
