// Adversarial: its first kernel lets the second start and goes on working, so that their times overlap.
// evo:launch lets_go(x, y, N) grid(ceil_div(N, 128)) block(128)
// evo:launch follows(x, y, N) grid(1) block(32)
__global__ void lets_go(const float* x, float* y, int n) {
  asm volatile("griddepcontrol.launch_dependents;");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void follows(const float* x, float* y, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x == 0) y[0] = x[0] + x[n - 1];
}
