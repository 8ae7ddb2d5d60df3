// buffers: A f16 in [2 * N], B f16 in [2 * N], Y f32 out [1]
// sizes: N=1; N=1000; N=15011
// evo:memset Y 0
// evo:launch hdot(A, B, Y, N) grid(64) block(128)
#include <cuda_fp16.h>

// Products of pairs in half, their sum in float.
__global__ void hdot(const half2* __restrict__ a, const half2* __restrict__ b, float* __restrict__ out, int pairs) {
  __shared__ float warp_sums[4];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
    const float2 x = __half22float2(a[i]);
    const float2 y = __half22float2(b[i]);
    sum = fmaf(x.x, y.x, sum);
    sum = fmaf(x.y, y.y, sum);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3]);
}
