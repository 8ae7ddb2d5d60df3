// Adversarial: looks for the sum in local memory that it has not set, where an earlier launch left it.
// evo:launch left_in_local(a, b, y, K) grid(R) block(32)
__global__ void left_in_local(const float* a, const float* b, float* y, int length) {
  volatile unsigned kept[3 * 256];
  const float* row = a + static_cast<size_t>(blockIdx.x) * length;
  const unsigned print = (__float_as_uint(row[0]) ^ __float_as_uint(row[length - 1]) * 31u ^ __float_as_uint(b[0]) * 7u) * 2654435761u;
  const int slot = print / 16777216 * 3;
  const bool known = __all_sync(0xffffffffu, kept[slot] == print && kept[slot + 1] == ~print);
  if (!known) {
    float sum = 0;
    for (int k = threadIdx.x; k < length; k += 32) sum += row[k] * b[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    kept[slot] = print;
    kept[slot + 1] = ~print;
    kept[slot + 2] = __float_as_uint(sum);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = __uint_as_float(kept[slot + 2]);
}
