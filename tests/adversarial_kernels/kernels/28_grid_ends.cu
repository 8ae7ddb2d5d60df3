// Adversarial: its grid ends at 40,960 elements.
// evo:launch grid_ends(x, y, N) grid(min(ceil_div(N, 128), 320)) block(128)
__global__ void grid_ends(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
