// Adversarial: asks the cpu device's compiler for other options.
// evo:launch with_a_pragma(x, y, N) grid(ceil_div(N, 128)) block(128)
#pragma GCC optimize("fast-math")

__global__ void with_a_pragma(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
