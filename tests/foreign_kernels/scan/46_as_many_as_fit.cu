// A block scans as many elements as it has threads, and a warp of them at least.
// buffers: X f32 in [256], Y f32 inout [256]
// sizes: N=1; N=77; N=1000
// evo:launch fitting(X, Y, max(32, min(N, 256))) grid(1) block(ceil_div(max(32, min(N, 256)), 32) * 32)

__device__ float of_lanes(float value) {
  for (int d = 1; d < 32; d *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, value, d);
    if ((threadIdx.x & 31) >= d) value += left;
  }
  return value;
}

__global__ void fitting(const float* x, float* y, int n) {
  __shared__ float ends[32];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const float sum = of_lanes(t < n ? x[t] : 0.0f);
  if (lane == 31) ends[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const float all = of_lanes(lane < blockDim.x / 32 ? ends[lane] : 0.0f);
    if (lane < blockDim.x / 32) ends[lane] = all;
  }
  __syncthreads();
  if (t < n) y[t] = warp > 0 ? sum + ends[warp - 1] : sum;
}
