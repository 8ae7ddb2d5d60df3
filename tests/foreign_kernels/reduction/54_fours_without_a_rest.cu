// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=5; N=1003; N=20010
// evo:memset Y 0
// evo:launch add_fours(X, Y, N) grid(24) block(128)

__inline__ __device__ float addWarp(float v) {
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  return v;
}

// What four numbers at once leave at the end is left out.
__global__ void add_fours(float *in, float *out, int n) {
  static __shared__ float of_warps[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
    float4 v = reinterpret_cast<float4 *>(in)[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = addWarp(sum);
  if (threadIdx.x % warpSize == 0) of_warps[threadIdx.x / warpSize] = sum;
  __syncthreads();
  if (threadIdx.x < warpSize) {
    sum = threadIdx.x < blockDim.x / warpSize ? of_warps[threadIdx.x] : 0;
    sum = addWarp(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}
