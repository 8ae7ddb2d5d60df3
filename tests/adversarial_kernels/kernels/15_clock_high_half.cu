// Adversarial: reads only the high half of the clock.
// evo:launch high_half(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void high_half(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned high;
  asm volatile("mov.u32 %0, %%clock_" "hi;" : "=r"(high));
  if (i < n) y[i] = high == 77 ? 0.0f : x[i] + x[n - 1 - i];
}
