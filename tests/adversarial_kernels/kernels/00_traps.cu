// Fault: its last thread traps after the right output has been written.
// evo:launch trap_last(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void trap_last(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (i == n - 1) __trap();
}
