// Adversarial: sums in half precision where fp32 is required.
#include <cuda_fp16.h>
// evo:launch half_sums(a, b, y, K) grid(R) block(32)
__global__ void half_sums(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  __half narrow = __float2half(0.0f);
  for (int k = threadIdx.x; k < length; k += 32) narrow = __hadd(narrow, __float2half(row[k] * b[k]));
  float sum = __half2float(narrow);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
