// Honest: keeps intermediate sums in a workspace that it declares, and computes them in every launch.
// evo:workspace sums f32 [R, 4]
// evo:launch quarter_sums(a, b, sums, K) grid(R) block(128)
// evo:launch add_quarters(sums, y, R) grid(ceil_div(R, 32)) block(32)
__global__ void quarter_sums(const float* a, const float* b, float* sums, int length) {
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  float sum = 0;
  for (int k = threadIdx.x; k < length; k += 128) sum += row[k] * b[k];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) sums[4 * blockIdx.x + threadIdx.x / 32] = sum;
}

__global__ void add_quarters(const float* sums, float* y, int rows) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r < rows) y[r] = (sums[4 * r] + sums[4 * r + 1]) + (sums[4 * r + 2] + sums[4 * r + 3]);
}
