// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace totals f32 [ceil_div(N, 256)]
// evo:launch scan_kernel<256>(X, Y, totals, N) grid(ceil_div(N, 256)) block(256)
// evo:launch scan_totals(totals, ceil_div(N, 256)) grid(1) block(1)
// evo:launch uniform_add(Y, totals, N) grid(ceil_div(N, 256)) block(256)

__device__ __forceinline__ float warp_inclusive(float v, int lane) {
  for (int o = 1; o < 32; o <<= 1) {
    float n = __shfl_up_sync(0xffffffff, v, o);
    if (lane >= o) v += n;
  }
  return v;
}

template <int THREADS>
__global__ void scan_kernel(const float* __restrict__ d_in, float* __restrict__ d_out, float* totals, int n) {
  constexpr int WARPS = THREADS / 32;
  __shared__ float warp_sums[WARPS];
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int i = blockIdx.x * THREADS + threadIdx.x;
  float v = (i < n) ? d_in[i] : 0.0f;
  v = warp_inclusive(v, lane);
  if (lane == 31) warp_sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float w = lane < WARPS ? warp_sums[lane] : 0.0f;
    w = warp_inclusive(w, lane);
    if (lane < WARPS) warp_sums[lane] = w;
  }
  __syncthreads();
  if (warp > 0) v += warp_sums[warp - 1];
  if (i < n) d_out[i] = v;
  if (threadIdx.x == THREADS - 1) totals[blockIdx.x] = v;
}

__global__ void scan_totals(float* totals, int count) {
  for (int i = 1; i < count; ++i) totals[i] += totals[i - 1];
}

__global__ void uniform_add(float* out, const float* totals, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += totals[blockIdx.x - 1];
}
