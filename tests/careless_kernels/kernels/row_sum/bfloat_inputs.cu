// Careless: rounds the inputs to bf16. Wrong for every row by 1e-3.
// evo:launch bfloat_inputs(X, Y, COLS) grid(ROWS) block(32)
#include <cuda_bf16.h>

__global__ void bfloat_inputs(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += __bfloat162float(__float2bfloat16(x[c]));
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
