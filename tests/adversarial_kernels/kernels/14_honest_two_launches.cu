// Honest: has two kernels, and declares both.
// evo:launch copy_first(x, y, N) grid(ceil_div(N, 128)) block(128)
// evo:launch add_second(x, y, N) grid(ceil_div(N, 64)) block(64)
__global__ void copy_first(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void add_second(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[n - 1 - i];
}
