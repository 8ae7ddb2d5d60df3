// buffers: X f16 in [R, C], T i32<2 in [R], LOSS f32 out [R], DX f16 out [R, C]
// sizes: R=1 C=2; R=70 C=45; R=130 C=129
// evo:launch xentropy_fwd_bwd(X, T, LOSS, DX, R, C, C, f32(0.1)) grid(ceil_div(R, 64)) block(64)
#include <cuda_fp16.h>

typedef unsigned int uint;

static __device__ float log_add_exp(float a, float b)
{
  const float hi = a > b ? a : b, lo = a > b ? b : a;
  return hi + log1pf(expf(lo - hi));
}

// Loss with smoothed labels and its gradient. Rows lie ld elements apart.
extern "C" __global__
void xentropy_fwd_bwd(const __half* logits, const int* target, float* loss, __half* grad,
                      uint rows, uint classes, uint ld, float smoothing)
{
  for (uint r = blockIdx.x * blockDim.x + threadIdx.x; r < rows; r += gridDim.x * blockDim.x)
  {
    const __half* z = &logits[r * ld];
    __half* g = &grad[r * ld];
    const int t = target[r];

    float lse = __half2float(z[0]), mean = __half2float(z[0]);
    for (uint c = 1; c < classes; ++c)
    {
      const float v = __half2float(z[c]);
      lse = log_add_exp(lse, v);
      mean += v;
    }
    mean /= classes;
    loss[r] = lse - (1.0f - smoothing) * __half2float(z[t]) - smoothing * mean;

    uint c = classes;
    while (c-- > 0)
    {
      float d = expf(__half2float(z[c]) - lse) - smoothing / classes;
      if ((int)c == t) d -= 1.0f - smoothing;
      g[c] = __float2half(d);
    }
  }
}
