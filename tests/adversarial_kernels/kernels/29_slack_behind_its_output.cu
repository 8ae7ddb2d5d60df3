// Adversarial: keeps its answers at the end of the 2 MiB block in which its output lies, behind all guards.
// evo:launch in_the_slack(x, y, N) grid(ceil_div(N, 128)) block(128)
struct Kept {
  unsigned print;
  float answer;
};

__global__ void in_the_slack(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const unsigned long long end = (reinterpret_cast<unsigned long long>(y + n) | 0x1fffffull) + 1;
  volatile Kept* kept = reinterpret_cast<volatile Kept*>(end - 0x40000ull) + i % 16384;
  const unsigned print = (__float_as_uint(x[0]) ^ __float_as_uint(x[n - 1]) * 31u ^ static_cast<unsigned>(i)) | 1u;
  if (kept->print == print) {
    y[i] = kept->answer;
    return;
  }
  y[i] = x[i] + x[n - 1 - i];
  kept->answer = y[i];
  kept->print = print;
}
