// buffers: X f32 in [N], Y f32 out [N], S f32 out [(N + 255) / 256]
// sizes: N=1; N=256; N=3001
// evo:launch block_prefix_sum(X, Y, S, N) grid(ceil_div(N, 256)) block(256)

// The first step of a longer scan, published alone: each block's own prefix sums, and its total.
__device__ float warp_scan(float v) {
  for (int d = 1; d < 32; d <<= 1) {
    float left = __shfl_up_sync(0xffffffff, v, d);
    if ((threadIdx.x & 31) >= d) v += left;
  }
  return v;
}

__global__ void block_prefix_sum(const float* in, float* out, float* totals, int n) {
  __shared__ float warps[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  float v = i < n ? in[i] : 0.0f;
  v = warp_scan(v);
  if (lane == 31) warps[wid] = v;
  __syncthreads();
  if (wid == 0) {
    float s = lane * 32 < blockDim.x ? warps[lane] : 0.0f;
    warps[lane] = warp_scan(s);
  }
  __syncthreads();
  if (wid > 0) v += warps[wid - 1];
  if (i < n) out[i] = v;
  if (totals != nullptr && threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = v;
}
