// Depthwise, half with batch normalisation and a clipped activation, planes in the grid, filters with their size as a parameter.
// buffers: x f16 in [N, C, H, W], w f16 in [C, 3, 3], scale f32 in [C], shift f32 in [C], y f16 out [N, C, OH, OW]
// sizes: N=2 C=5 H=11 W=13 OH=6 OW=7; N=1 C=3 H=8 W=40 OH=4 OW=20; N=3 C=2 H=3 W=3 OH=2 OW=2
// evo:launch dwconv_bn(x, w, scale, shift, y, C, H, W, OH, OW, 3, 2, 1) grid(ceil_div(OW, 32), ceil_div(OH, 4), N * C) block(32, 4)
#include <cuda_fp16.h>

__global__ void dwconv_bn(const half* __restrict__ x, const half* __restrict__ w, const float* scale, const float* shift,
                          half* __restrict__ y, int C, int H, int W, int OH, int OW, int K, int stride, int pad) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = blockIdx.z, c = plane % C;
  if (ox >= OW || oy >= OH) return;
  float sum = 0.f;
  for (int i = 0; i < K; ++i) {
    const int iy = oy * stride + i - pad;
    for (int j = 0; j < K; ++j) {
      const int ix = ox * stride + j - pad;
      if (iy >= 0 && iy < H && ix >= 0 && ix < W)
        sum += __half2float(x[(plane * H + iy) * W + ix]) * __half2float(w[(c * K + i) * K + j]);
    }
  }
  const float v = sum * scale[c] + shift[c];
  y[(plane * OH + oy) * OW + ox] = __float2half(fminf(fmaxf(v, 0.f), 6.f));
}
