// Adversarial: cuts products to eleven bits by a mask, so that no narrow type appears in the source.
// evo:launch masked(a, b, y, K) grid(R) block(32)
#define CUT(value) __uint_as_float(__float_as_uint(value) & 0xffffe000u)

__global__ void masked(const float* a, const float* b, float* y, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 32) sum += CUT(row[k]) * CUT(b[k]);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
