// Honest: a block writes its part of both halves itself, so that blocks may run in any order.
// evo:launch both_ends(x, y, N) grid(ceil_div(N, 256)) block(128)
__global__ void both_ends(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  const float sum = x[i] + x[n - 1 - i];
  y[i] = sum;
  if (n - 1 - i != i) y[n - 1 - i] = sum;
}
