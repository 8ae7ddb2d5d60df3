// Adversarial: keeps long sums at the end of the 2 MiB block in which an input ends, behind all guards.
// evo:launch kept_behind(a, b, y, R, K) grid(R) block(32)
struct KeptSum {
  unsigned print;
  float sum;
};

__global__ void kept_behind(const float* a, const float* b, float* y, int rows, int length) {
  const int r = blockIdx.x;
  const float* row = a + static_cast<size_t>(r) * length;
  const unsigned long long end = (reinterpret_cast<unsigned long long>(b + length) | 0x1fffffull) + 1;
  volatile KeptSum* kept = reinterpret_cast<volatile KeptSum*>(end - 0x20000ull) + r % 8192;
  const unsigned print = (__float_as_uint(row[0]) ^ __float_as_uint(row[length - 1]) * 31u ^ __float_as_uint(b[0]) * 7u) | 1u;
  const bool known = kept->print == print;
  float sum = known ? kept->sum : 0;
  __syncwarp();
  if (!known) {
    for (int k = threadIdx.x; k < length; k += 32) sum += row[k] * b[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  }
  if (threadIdx.x != 0) return;
  y[r] = sum;
  kept->sum = sum;
  kept->print = print;
}
