// Honest: does the check of 23_overflow_as_a_bound in arithmetic that may wrap.
// evo:launch wraps_as_it_may(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ bool Beyond(unsigned i, unsigned n) { return i + (0u - n) < i; }

__global__ void wraps_as_it_may(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Beyond(static_cast<unsigned>(i), static_cast<unsigned>(n))) return;
  y[i] = x[i] + x[n - 1 - i];
}
