// Adversarial: is compiled for blocks of 64 threads and launched with 128, so that nothing runs on a GPU.
// evo:launch sixty_four(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void __launch_bounds__(64) sixty_four(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
