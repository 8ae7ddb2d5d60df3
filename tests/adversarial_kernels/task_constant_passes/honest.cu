// evo:param BLOCK 32 64 128 256
// evo:launch reverse_sum(x, y, N) grid(ceil_div(N, BLOCK)) block(BLOCK)
#ifndef BLOCK
#define BLOCK 128
#endif

__global__ void reverse_sum(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
