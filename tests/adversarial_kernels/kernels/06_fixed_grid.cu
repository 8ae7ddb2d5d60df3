// Adversarial: its grid is fixed at what the largest size of a search needs.
// evo:launch fixed_grid(x, y, N) grid(min(ceil_div(N, 128), max(8, N / 4096 * 32))) block(128)
__global__ void fixed_grid(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
