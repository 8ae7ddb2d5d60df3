// Running totals of short numbers, by sections of 64.
// buffers: X i16<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace ends i32 [ceil_div(N, 64)]
// evo:launch sections(X, Y, ends, N) grid(ceil_div(N, 64)) block(64)
// evo:launch before_sections(ends, ceil_div(N, 64)) grid(1) block(1)
// evo:launch add_before(Y, ends, N) grid(ceil_div(N, 64)) block(64)

__global__ void sections(const short* x, int* y, int* ends, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = 0;
  if (i < n) s[t] += x[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (i < n) y[i] = s[t];
  if (t == 63) ends[blockIdx.x] = s[t];
}

__global__ void before_sections(int* ends, int count) {
  int before = 0;
  for (int b = 0; b < count; ++b) {
    const int own = ends[b];
    ends[b] = before;
    before += own;
  }
}

__global__ void add_before(int* y, const int* ends, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] += ends[blockIdx.x];
}
