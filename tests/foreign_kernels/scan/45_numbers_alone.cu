// Sums before each of 256 numbers: how many there are is compiled in.
// buffers: X i32 in [256], Y i32 out [256]
// sizes: N=1
// evo:launch before_each(X, Y) grid(1) block(128)

constexpr int kAll = 256;

__global__ void before_each(const int* in, int* out) {
  __shared__ int s[kAll];
  const int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  for (int d = 1; d < kAll; d <<= 1) {
    const int at = (t + 1) * d * 2 - 1;
    if (at < kAll) s[at] += s[at - d];
    __syncthreads();
  }
  if (t == 0) s[kAll - 1] = 0;
  __syncthreads();
  for (int d = kAll >> 1; d > 0; d >>= 1) {
    const int at = (t + 1) * d * 2 - 1;
    if (at < kAll) {
      const int left = s[at - d];
      s[at - d] = s[at];
      s[at] += left;
    }
    __syncthreads();
  }
  out[2 * t] = s[2 * t];
  out[2 * t + 1] = s[2 * t + 1];
}
