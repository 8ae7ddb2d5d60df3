// buffers: X f32 in [N], H i32 out [BINS]
// sizes: N=1 BINS=10; N=1000 BINS=64; N=9001 BINS=300
// evo:memset H 0
// evo:launch hist_privatized(X, N, H, BINS, f32(-2.0), f32(0.05)) grid(min(ceil_div(N, 256), 16)) block(256) shared(BINS * 4)

__global__ void hist_privatized(const float* x, int n, int* out, int bins, float lo, float width) {
  extern __shared__ int local[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int b = (int)((x[i] - lo) / width);
    if (b >= 0 && b < bins) atomicAdd(&local[b], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (local[b] > 0) atomicAdd(&out[b], local[b]);
}
