// Honest: its conditionals ask for its own macros only.
// evo:param VECTOR 1 2
// evo:launch own_macro(x, y, N) grid(ceil_div(N, 128 * VECTOR)) block(128)
#ifndef VECTOR
#define VECTOR 2
#endif

__global__ void own_macro(const float* x, float* y, int n) {
  const int i = (blockIdx.x * 128 + threadIdx.x) * VECTOR;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
#if VECTOR == 2
  if (i + 1 < n) y[i + 1] = x[i + 1] + x[n - 2 - i];
#endif
}
