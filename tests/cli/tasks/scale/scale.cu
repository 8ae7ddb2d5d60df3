#ifndef BLOCK
#define BLOCK 64
#endif
// evo:param BLOCK 64 128 256
// evo:launch scale(x, y, n) grid(ceil_div(n, BLOCK)) block(BLOCK)
extern "C" __global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
