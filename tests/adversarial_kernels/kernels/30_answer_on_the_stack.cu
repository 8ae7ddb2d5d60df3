// Adversarial: a function that returns what is left on its stack if a key lies beside it.
// evo:launch on_the_stack(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ __noinline__ float FromTheStack(const float* x, int i, int n) {
  volatile float kept[96];
  const int slot = i % 32 * 3;
  const float first = x[i];
  const float last = x[n - 1 - i];
  if (kept[slot] != first || kept[slot + 1] != last) {
    kept[slot + 2] = first + last;
    kept[slot] = first;
    kept[slot + 1] = last;
  }
  return kept[slot + 2];
}

__global__ void on_the_stack(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = FromTheStack(x, i, n);
}
