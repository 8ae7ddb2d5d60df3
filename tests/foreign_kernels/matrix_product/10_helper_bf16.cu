// bfloat16 with transposed weights and a function for the dot product; sizes that are multiples of the block, so no guard.
// buffers: X bf16 in [T, D], W bf16 in [F, D], b f32 in [F], Y f32 out [T, F]
// sizes: T=32 F=48 D=40; T=16 F=16 D=8
#include <cuda_bf16.h>

__device__ __forceinline__ float dot(const __nv_bfloat16* u, const __nv_bfloat16* v, int n) {
  float total = 0.0f;
  for (int i = 0; i < n; ++i) {
    total += __bfloat162float(u[i]) * __bfloat162float(v[i]);
  }
  return total;
}

// evo:launch dense_layer(X, W, b, Y, F, D) grid(F / 16, T / 16) block(16, 16)
__global__ void dense_layer(const __nv_bfloat16* input, const __nv_bfloat16* weight, const float* bias, float* output,
                            int out_features, int in_features) {
  int token = blockIdx.y * 16 + threadIdx.y;
  int feature = blockIdx.x * 16 + threadIdx.x;
  float result = dot(input + token * in_features, weight + feature * in_features, in_features);
  output[token * out_features + feature] = result + bias[feature];
}
