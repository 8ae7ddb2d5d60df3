// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace sums i32 [ceil_div(N, COARSE * 64)]
// evo:param COARSE 2 4 8
// evo:launch scan_coarse(X, Y, sums, N) grid(ceil_div(N, COARSE * 64)) block(64)
// evo:launch scan_of_sums(sums, ceil_div(N, COARSE * 64)) grid(1) block(1)
// evo:launch add_before(sums, Y, N) grid(ceil_div(N, COARSE * 64)) block(64)
#ifndef COARSE
#define COARSE 4
#endif

// Each thread its own part one after another, then the last elements of the threads, then what is before a part.
__global__ void scan_coarse(const int* x, int* y, int* sums, int n) {
  __shared__ int s[COARSE * 64];
  __shared__ int last[64];
  const int start = blockIdx.x * COARSE * 64;
  for (int c = 0; c < COARSE; c++) {
    const int at = start + c * 64 + threadIdx.x;
    s[c * 64 + threadIdx.x] = at < n ? x[at] : 0;
  }
  __syncthreads();
  for (int c = 1; c < COARSE; c++) s[threadIdx.x * COARSE + c] += s[threadIdx.x * COARSE + c - 1];
  last[threadIdx.x] = s[threadIdx.x * COARSE + COARSE - 1];
  __syncthreads();
  for (int stride = 1; stride < 64; stride <<= 1) {
    int left = 0;
    if (threadIdx.x >= stride) left = last[threadIdx.x - stride];
    __syncthreads();
    last[threadIdx.x] += left;
    __syncthreads();
  }
  if (threadIdx.x > 0) {
    for (int c = 0; c < COARSE; c++) s[threadIdx.x * COARSE + c] += last[threadIdx.x - 1];
  }
  __syncthreads();
  for (int c = 0; c < COARSE; c++) {
    const int at = start + c * 64 + threadIdx.x;
    if (at < n) y[at] = s[c * 64 + threadIdx.x];
  }
  if (threadIdx.x == 63) sums[blockIdx.x] = last[63];
}

__global__ void scan_of_sums(int* sums, int count) {
  for (int k = 1; k < count; ++k) sums[k] = sums[k - 1] + sums[k];
}

__global__ void add_before(const int* sums, int* y, int n) {
  if (blockIdx.x == 0) return;
  for (int c = 0; c < COARSE; c++) {
    const int at = blockIdx.x * COARSE * 64 + c * 64 + threadIdx.x;
    if (at < n) y[at] += sums[blockIdx.x - 1];
  }
}
