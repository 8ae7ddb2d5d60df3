// Honest: loads through the read-only path.
// evo:launch read_only(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void read_only(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __ldg(x + i) + __ldg(x + n - 1 - i);
}
