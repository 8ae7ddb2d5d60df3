// Careless: partial sums in fp16. Wrong for every row by 1e-3, and where a sum exceeds 65,504.
// evo:launch half_partials(X, Y, COLS) grid(ROWS) block(32)
#include <cuda_fp16.h>

__global__ void half_partials(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  half partial = __float2half(0.0f);
  for (int c = threadIdx.x; c < columns; c += 32) partial = __hadd(partial, __float2half(x[c]));
  float sum = __half2float(partial);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) Y[blockIdx.x] = sum;
}
