// Honest: its inline PTX only orders memory accesses.
// evo:launch fenced(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void fenced(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("membar.gl;");
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
