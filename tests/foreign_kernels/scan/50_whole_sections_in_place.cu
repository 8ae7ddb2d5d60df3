// Sections of whole blocks, and offsets of which the host computes what they are.
// buffers: X i32 inout [N], sums i32 out [N / 64], offsets i32 in [N / 64]
// sizes: N=64; N=640
// evo:launch sections(X, sums) grid(N / 64) block(64)
// evo:launch shift(X, offsets) grid(N / 64) block(64)

__global__ void sections(int* data, int* sums) {
  __shared__ int s[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = data[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int left = 0;
    if (threadIdx.x >= d) left = s[threadIdx.x - d];
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  data[i] = s[threadIdx.x];
  if (threadIdx.x == 63) sums[blockIdx.x] = s[threadIdx.x];
}

__global__ void shift(int* data, const int* offsets) {
  data[blockIdx.x * 64 + threadIdx.x] += offsets[blockIdx.x];
}
