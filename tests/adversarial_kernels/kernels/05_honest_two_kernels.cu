// Honest: has one kernel for small sizes and another for large sizes, and both are right.
// evo:launch for_small(x, y, N) grid(1) block(256) when(N < 1000)
// evo:launch for_large(x, y, N) grid(ceil_div(N, 256)) block(256) when(N >= 1000)
__global__ void for_small(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = x[i] + x[n - 1 - i];
}

__global__ void for_large(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
