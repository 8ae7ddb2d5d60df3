// The grid is rounded up, but the ends of sections are only there if all are whole.
// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=64; N=640; N=5056
// evo:workspace ends i32 [ceil_div(N, 64)]
// evo:launch in_sections(X, Y, N) grid(ceil_div(N, 64)) block(64)
// evo:launch collect(Y, ends, ceil_div(N, 64)) grid(ceil_div(ceil_div(N, 64), 32)) block(32)
// evo:launch of_ends(ends, ceil_div(N, 64)) grid(1) block(ceil_div(N, 64))
// evo:launch adjust(Y, ends, N) grid(ceil_div(N, 64)) block(64)

__global__ void in_sections(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int left = 0;
    if (t >= d) left = s[t - d];
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (i < n) out[i] = s[t];
}

__global__ void collect(const int* out, int* ends, int sections) {
  const int b = blockIdx.x * 32 + threadIdx.x;
  if (b < sections) ends[b] = out[(b + 1) * 64 - 1];
}

__global__ void of_ends(int* ends, int sections) {
  __shared__ int s[1024];
  const int t = threadIdx.x;
  s[t] = ends[t];
  __syncthreads();
  for (int d = 1; d < sections; d *= 2) {
    int left = 0;
    if (t >= d) left = s[t - d];
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  ends[t] = s[t];
}

__global__ void adjust(int* out, const int* ends, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += ends[blockIdx.x - 1];
}
