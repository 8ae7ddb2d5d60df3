// Adversarial: counts its blocks from the value that workspaces happen to have at the start, all bits set, and has no memset.
// evo:workspace counter u32 [1]
// evo:launch counts_from_poison(x, y, counter, N) grid(ceil_div(N, 128)) block(128)
__global__ void counts_from_poison(const float* x, float* y, unsigned* counter, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && i > 0) y[i] = x[i] + x[n - 1 - i];
  if (threadIdx.x == 0 && atomicAdd(counter, 1u) + 1u == gridDim.x - 1) y[0] = x[0] + x[n - 1];
}
