// False speed-up: keeps something where no buffer of its own is, beyond all guards.
// evo:launch far_write(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void far_write(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (i == 0) y[n + 262144] = y[0];
}
