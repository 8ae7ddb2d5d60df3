// Honest: reads a table of constants that no launch changes.
// evo:launch weighted(x, y, N) grid(ceil_div(N, 128)) block(128)
__constant__ float kWeights[2] = {1, 1};
__device__ const float weights[4] = {1, 1, 1, 1};

__global__ void weighted(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = kWeights[i % 2] * x[i] + weights[i % 4] * x[n - 1 - i];
}
