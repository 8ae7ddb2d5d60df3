// buffers: X u8<70 in [R, N], H u32 out [R, BINS]
// sizes: R=1 N=1 BINS=3; R=5 N=300 BINS=64; R=7 N=1301 BINS=70
// evo:memset H 0
// evo:launch count_rows(X, H, N, BINS) grid(2, R) block(96) shared(BINS * 4)

// What is beyond the bins is not counted.
__global__ void count_rows(const unsigned char* x, unsigned* h, int n, int bins) {
  extern __shared__ unsigned row_counts[];
  const int t = threadIdx.x;
  const unsigned char* row = x + blockIdx.y * n;
  for (int b = t; b < bins; b += blockDim.x) row_counts[b] = 0u;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {
    const unsigned v = row[i];
    if (v < bins) atomicAdd(row_counts + v, 1u);
  }
  __syncthreads();
  for (int b = t; b < bins; b += blockDim.x) {
    if (row_counts[b] != 0) atomicAdd(&h[blockIdx.y * bins + b], row_counts[b]);
  }
}
