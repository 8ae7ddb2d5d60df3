// A linear layer whose weights are bytes with a scale for each row; a flat index.
// buffers: X f16 in [T, IN], W i8<200 in [OUT, IN], S f32 in [OUT], B f32 in [OUT], Y f16 out [T, OUT]
// sizes: T=19 IN=40 OUT=33; T=4 IN=64 OUT=70; T=1 IN=7 OUT=3
#include <cuda_fp16.h>
#include <cstdint>

// evo:launch w8a16_linear(X, W, S, B, Y, T, IN, OUT) grid(ceil_div(T * OUT, 192)) block(192)
extern "C" __global__ void w8a16_linear(const __half* __restrict__ act, const int8_t* __restrict__ qweight,
                                        const float* __restrict__ scales, const float* __restrict__ bias,
                                        __half* __restrict__ out, int tokens, int in_features, int out_features) {
  int gid = blockDim.x * blockIdx.x + threadIdx.x;
  int total = tokens * out_features;
  if (gid < total) {
    int t = gid / out_features;
    int o = gid % out_features;
    const __half* x = act + t * in_features;
    const int8_t* w = qweight + o * in_features;
    float sum = 0.f;
    for (int i = 0; i < in_features; ++i) {
      sum += __half2float(x[i]) * static_cast<float>(w[i]);
    }
    out[gid] = __float2half(sum * scales[o] + bias[o]);
  }
}
