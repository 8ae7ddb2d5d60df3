// Honest: has fewer threads than elements, and each thread computes several.
// evo:launch grid_stride(x, y, N) grid(2) block(96)
__global__ void grid_stride(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = i; j < n; j += gridDim.x * blockDim.x) y[j] = x[j] + x[n - 1 - j];
}
