// Adversarial: a function that returns what is left on its stack if the numbers that it depends on lie beside it.
// evo:launch on_the_stack(a, b, y, R, K) grid(ceil_div(R, 32)) block(32)
__device__ __noinline__ float RowSum(const float* row, const float* b, int length) {
  volatile float kept[4 * 256];
  const int slot = (__float_as_uint(row[0]) ^ __float_as_uint(row[1])) * 2654435761u / 16777216 * 4;
  if (kept[slot] != row[0] || kept[slot + 1] != row[1] || kept[slot + 2] != b[0]) {
    float sums[4] = {};
    for (int k = 0; k < length; ++k) sums[k % 4] += row[k] * b[k];
    kept[slot] = row[0];
    kept[slot + 1] = row[1];
    kept[slot + 2] = b[0];
    kept[slot + 3] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return kept[slot + 3];
}

__global__ void on_the_stack(const float* a, const float* b, float* y, int rows, int length) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r < rows) y[r] = RowSum(a + static_cast<size_t>(r) * length, b, length);
}
