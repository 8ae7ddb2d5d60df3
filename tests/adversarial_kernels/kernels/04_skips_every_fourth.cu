// Adversarial: does nothing in every fourth launch.
// evo:launch now_and_then(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ unsigned calls;

__device__ bool SkipThisOne() { return atomicAdd(&calls, 1u) / (gridDim.x * blockDim.x) % 4 == 3; }

__global__ void now_and_then(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (SkipThisOne()) return;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
