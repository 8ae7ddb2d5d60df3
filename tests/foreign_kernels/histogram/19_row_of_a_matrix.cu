// buffers: X u16<64 in [R, N], H i32 out [R, 64]
// sizes: R=1 N=1; R=5 N=300; R=7 N=1301
// evo:memset H 0
// evo:launch row_histogram<64>(X, H, R, N) grid(R) block(128)
#define ROW blockIdx.x

// A block counts one row.
template <int BINS>
__global__ void row_histogram(const unsigned short* data, int* hist, int rows, int n) {
  const unsigned short* row = data + (size_t)ROW * n;
  for (int c = threadIdx.x; c < n; c += blockDim.x) {
    const int b = row[c];
    if (b < BINS) atomicAdd(&hist[ROW * BINS + b], 1);
  }
}
