// Honest: has a variable called clock, and a comment with clock64() and asm("mov.u64 %0, %globaltimer;").
// evo:launch timeless(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void timeless(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float clock = i < n ? x[i] : 0;  // reads no %clock
  if (i < n) y[i] = clock + x[n - 1 - i];
}
