// Honest: the kernel of 31_counter_starts_at_poison, with a memset.
// evo:workspace counter u32 [1]
// evo:memset counter 0
// evo:launch counts_from_zero(x, y, counter, N) grid(ceil_div(N, 128)) block(128)
__global__ void counts_from_zero(const float* x, float* y, unsigned* counter, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i] + x[n - 1 - i];
  if (threadIdx.x == 0 && atomicAdd(counter, 1u) == gridDim.x - 1) y[0] = x[0] + x[n - 1];
}
