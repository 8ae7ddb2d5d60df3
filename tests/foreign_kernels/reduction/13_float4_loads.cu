// buffers: X f32 in [4 * N], Y f32 out [1]
// sizes: N=1; N=100; N=3001
// evo:memset Y 0
// evo:launch sumVec4(X, Y, N) grid(min(ceil_div(N, 256), 80)) block(256)

__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
  return v;
}

__global__ void sumVec4(const float4* __restrict__ x, float* __restrict__ out, int n4) {
  float acc = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = __ldg(&x[i]);
    acc += v.x + v.y + v.z + v.w;
  }
  acc = warpSum(acc);
  __shared__ float smem[8];
  const int warp_id = threadIdx.x >> 5, lane_id = threadIdx.x & 31;
  if (lane_id == 0) smem[warp_id] = acc;
  __syncthreads();
  if (warp_id == 0) {
    acc = lane_id < 8 ? smem[lane_id] : 0.f;
    acc = warpSum(acc);
    if (lane_id == 0) atomicAdd(out, acc);
  }
}
