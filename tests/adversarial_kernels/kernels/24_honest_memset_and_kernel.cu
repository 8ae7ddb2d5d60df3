// Honest: has a memset and a kernel, declares both, and both count.
// evo:memset y 0
// evo:launch adds_to_zeros(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void adds_to_zeros(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i] + x[n - 1 - i];
}
