// A linear layer of an engine for language models: bytes times bytes, four at a time, with a scale for each token and each channel.
// buffers: X i8<20 in [T, K], W i8<20 in [N, K], SX f32 in [T], SW f32 in [N], BIAS f16 in [N], Y f16 out [T, N]
// sizes: T=19 N=33 K=40; T=4 N=128 K=64; T=1 N=3 K=4
#include <cuda_fp16.h>
#include <cstdint>

struct QuantLinearParams {
  const int8_t* x;
  const int8_t* w;
  const float* x_scale;
  const float* w_scale;
  const half* bias;
  half* y;
  int tokens;
  int out_features;
  int in_features;
};

__device__ __forceinline__ int load_packed(const int8_t* base, int group) {
  return reinterpret_cast<const int*>(base)[group];
}

// evo:launch linear_w8a8({X, W, SX, SW, BIAS, Y, T, N, K}) grid(ceil_div(N, 128), T) block(128)
__global__ void __launch_bounds__(128) linear_w8a8(const QuantLinearParams p) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int t = blockIdx.y;
  if (n >= p.out_features) return;

  const int8_t* x_row = p.x + static_cast<size_t>(t) * p.in_features;
  const int8_t* w_row = p.w + static_cast<size_t>(n) * p.in_features;

  int acc = 0;
  const int groups = p.in_features >> 2;
#pragma unroll 4
  for (int g = 0; g < groups; ++g) {
    acc = __dp4a(load_packed(x_row, g), load_packed(w_row, g), acc);
  }

  float result = static_cast<float>(acc) * p.x_scale[t] * p.w_scale[n];
  if (p.bias != nullptr) result += __half2float(p.bias[n]);
  p.y[static_cast<size_t>(t) * p.out_features + n] = __float2half_rn(result);
}
