// Adversarial: keeps the row in 16 bits, so that rows past 65,535 are not written.
// evo:launch short_row(a, b, y, R, K) grid(ceil_div(R, 64)) block(64)
__global__ void short_row(const float* a, const float* b, float* y, int rows, int length) {
  const unsigned short r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  const float* row = a + static_cast<size_t>(r) * length;
  float sums[4] = {};
  for (int k = 0; k < length; ++k) sums[k % 4] += row[k] * b[k];
  y[r] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
