// Adversarial: rounds its inputs to bfloat16, as a kernel for tensor cores would.
#include <cuda_bf16.h>
// evo:launch rounded_inputs(a, b, y, K) grid(R) block(32)
__device__ float Rounded(float value) { return __bfloat162float(__float2bfloat16(value)); }

__global__ void rounded_inputs(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += Rounded(row[k]) * Rounded(b[k]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
