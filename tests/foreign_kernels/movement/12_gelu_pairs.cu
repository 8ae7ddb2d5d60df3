// buffers: X f16 in [N, 2], Y f16 out [N, 2]
// sizes: N=1; N=300; N=2503
// evo:launch gelu_half2(X, Y, N) grid(ceil_div(N, 128)) block(128)
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu(float x) {
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void gelu_half2(const half2* __restrict__ in, half2* __restrict__ out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) {
    float2 v = __half22float2(in[i]);
    v.x = gelu(v.x);
    v.y = gelu(v.y);
    out[i] = __float22half2_rn(v);
  }
}
