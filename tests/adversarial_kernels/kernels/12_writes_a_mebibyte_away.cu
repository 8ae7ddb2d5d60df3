// Adversarial: keeps data in memory that is no buffer of its own, beyond all guard zones.
// evo:launch far_write(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void far_write(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (i == 0) y[n + 262144] = y[0];
}
