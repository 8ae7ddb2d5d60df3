// buffers: LEN u32<50 in [N], PTR u32 out [N + 1]
// sizes: N=1; N=300; N=5003
// evo:workspace tops u32 [ceil_div(N, 256)]
// evo:launch scan_lengths(LEN, PTR, tops, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_tops(tops, ceil_div(N, 256)) grid(1) block(1)
// evo:launch add_tops(PTR, tops, N) grid(ceil_div(N, 256)) block(256)

// Where rows of a sparse matrix begin, and behind them where the last one ends.
__global__ void scan_lengths(const unsigned* len, unsigned* ptr, unsigned* tops, int n) {
  __shared__ unsigned s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? len[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const unsigned left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  if (i == 0) ptr[0] = 0;
  if (i < n) ptr[i + 1] = s[threadIdx.x];
  if (threadIdx.x == 255) tops[blockIdx.x] = s[255];
}

__global__ void scan_tops(unsigned* tops, int count) {
  unsigned sum = 0;
  for (int b = 0; b < count; ++b) {
    const unsigned own = tops[b];
    tops[b] = sum;
    sum += own;
  }
}

__global__ void add_tops(unsigned* ptr, const unsigned* tops, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) ptr[i + 1] += tops[blockIdx.x];
}
