// buffers: X f16 in [R, C], Q i8 out [R, C], S f32 out [R]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch quantize_rows(X, Q, S, R, C) grid(ceil_div(R, 64)) block(64)
#include <cuda_fp16.h>
#include <stdint.h>

__device__ __forceinline__ int8_t to_int8(float v) {
  int q = __float2int_rn(v);
  q = max(-128, min(127, q));
  return static_cast<int8_t>(q);
}

// Symmetric quantisation of each token.
__global__ void quantize_rows(const __half* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scales,
                              const int tokens, const int hidden) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  float absmax = 1e-8f;
  for (int i = 0; i < hidden; ++i) {
    const float v = __half2float(x[token * hidden + i]);
    absmax = fmaxf(absmax, fabsf(v));
  }
  const float scale = absmax / 127.f;
  scales[token] = scale;
  const float inv_scale = 1.f / scale;
  for (int i = 0; i < hidden; ++i) {
    q[token * hidden + i] = to_int8(__half2float(x[token * hidden + i]) * inv_scale);
  }
}
