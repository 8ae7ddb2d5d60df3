// Three kernels; how many elements a block takes is a size, and one block scans the sums of the sections.
// buffers: X i32 in [N], Y i32 out [N]
// sizes: N=1 SECTION=128; N=777 SECTION=128; N=300 SECTION=64
// evo:size SECTION
// evo:workspace sums i32 [ceil_div(N, SECTION)]
// evo:launch scan_sections(X, Y, sums, N) grid(ceil_div(N, SECTION)) block(SECTION / 2)
// evo:launch scan_sums(sums, ceil_div(N, SECTION)) grid(1) block(SECTION / 2)
// evo:launch add_sums(Y, sums, N) grid(ceil_div(N, SECTION)) block(SECTION / 2)

#ifndef SECTION
#define SECTION 128
#endif

__device__ void scan_pairs(int* s) {
  for (int d = 1; d <= blockDim.x; d *= 2) {
    __syncthreads();
    const int at = (threadIdx.x + 1) * 2 * d - 1;
    if (at < SECTION) s[at] += s[at - d];
  }
  for (int d = SECTION / 4; d > 0; d /= 2) {
    __syncthreads();
    const int at = (threadIdx.x + 1) * 2 * d - 1;
    if (at + d < SECTION) s[at + d] += s[at];
  }
  __syncthreads();
}

__global__ void scan_sections(const int* x, int* y, int* sums, int n) {
  __shared__ int s[SECTION];
  const int i = 2 * blockIdx.x * blockDim.x + threadIdx.x, j = i + blockDim.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  s[threadIdx.x + blockDim.x] = j < n ? x[j] : 0;
  scan_pairs(s);
  if (i < n) y[i] = s[threadIdx.x];
  if (j < n) y[j] = s[threadIdx.x + blockDim.x];
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = s[SECTION - 1];
}

__global__ void scan_sums(int* sums, int n) {
  __shared__ int s[SECTION];
  const int i = threadIdx.x, j = i + blockDim.x;
  s[i] = i < n ? sums[i] : 0;
  s[j] = j < n ? sums[j] : 0;
  scan_pairs(s);
  if (i < n) sums[i] = s[i];
  if (j < n) sums[j] = s[j];
}

__global__ void add_sums(int* y, const int* sums, int n) {
  if (blockIdx.x == 0) return;
  const int i = blockIdx.x * SECTION + threadIdx.x, j = i + blockDim.x, before = sums[blockIdx.x - 1];
  if (i < n) y[i] += before;
  if (j < n) y[j] += before;
}
