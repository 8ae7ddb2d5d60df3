// One block that takes two elements a thread, and is told how many there are.
// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=256
// evo:launch before_each(Y, X, N) grid(1) block(128)

#define HALF 128

__global__ void before_each(int* out, const int* in, int n) {
  __shared__ int s[2 * HALF];
  const int t = threadIdx.x;
  int offset = 1;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      const int before = s[left];
      s[left] = s[right];
      s[right] += before;
    }
  }
  __syncthreads();
  out[2 * t] = s[2 * t];
  out[2 * t + 1] = s[2 * t + 1];
}
