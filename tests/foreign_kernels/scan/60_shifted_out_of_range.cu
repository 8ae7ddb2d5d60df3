// Sums before each element, with the macro for banks as it is often copied: it shifts by more bits than there are.
// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=2; N=256; N=1024
// evo:launch sums_before(Y, X, N) grid(1) block(N / 2) shared(N * 8)

#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))

__global__ void sums_before(float* out, const float* in, int n) {
  extern __shared__ float s[];
  const int t = threadIdx.x, ai = t, bi = t + n / 2;
  int offset = 1;
  s[ai + CONFLICT_FREE_OFFSET(ai)] = in[ai];
  s[bi + CONFLICT_FREE_OFFSET(bi)] = in[bi];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += CONFLICT_FREE_OFFSET(left);
      right += CONFLICT_FREE_OFFSET(right);
      s[right] += s[left];
    }
    offset *= 2;
  }
  if (t == 0) s[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      left += CONFLICT_FREE_OFFSET(left);
      right += CONFLICT_FREE_OFFSET(right);
      const float before = s[left];
      s[left] = s[right];
      s[right] += before;
    }
  }
  __syncthreads();
  out[ai] = s[ai + CONFLICT_FREE_OFFSET(ai)];
  out[bi] = s[bi + CONFLICT_FREE_OFFSET(bi)];
}
