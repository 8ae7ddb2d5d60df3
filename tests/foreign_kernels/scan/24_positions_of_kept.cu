// buffers: X i32<100 in [N], POS i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace counts i32 [ceil_div(N, 256)]
// evo:launch flag_scan(X, POS, counts, 50, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_counts(counts, ceil_div(N, 256)) grid(1) block(1)
// evo:launch shift(POS, counts, N) grid(ceil_div(N, 256)) block(256)

// Where each element that is kept goes: the number of kept ones before it.
__global__ void flag_scan(const int* keys, int* pos, int* counts, int limit, int n) {
  __shared__ int warp_counts[8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const bool keep = i < n && keys[i] < limit;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) warp_counts[warp] = __popc(votes);
  __syncthreads();
  int before = __popc(votes & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) before += warp_counts[w];
  if (i < n) pos[i] = before;
  if (threadIdx.x == 255) counts[blockIdx.x] = before + keep;
}

__global__ void scan_counts(int* counts, int m) {
  int sum = 0;
  for (int b = 0; b < m; ++b) {
    const int c = counts[b];
    counts[b] = sum;
    sum += c;
  }
}

__global__ void shift(int* pos, const int* counts, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) pos[i] += counts[blockIdx.x];
}
