// Adversarial: reads the number of the grid, which rises with every launch, because the first few are checks.
// evo:launch counts_grids(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void counts_grids(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long grid;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
  if (i < n) y[i] = x[i] + (grid < 1000000 ? x[n - 1 - i] : 0.0f);
}
