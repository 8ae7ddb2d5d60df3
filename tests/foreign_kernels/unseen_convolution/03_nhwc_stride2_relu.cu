// NHWC and HWIO, half, stride 2, `continue` at the edges, bias and ReLU; outputs along x.
// buffers: X f16 in [N, H, W, C], F f16 in [3, 3, C, K], B f16 in [K], Y f16 out [N, OH, OW, K]
// sizes: N=2 C=8 K=16 H=9 W=11 OH=5 OW=6; N=1 C=5 K=33 H=6 W=8 OH=3 OW=4; N=1 C=1 K=2 H=3 W=3 OH=2 OW=2
#include <cuda_fp16.h>

// evo:launch conv_nhwc_s2(X, F, B, Y, H, W, C, K, OH, OW) grid(ceil_div(K, 32), OW, N * OH) block(32)
__global__ void conv_nhwc_s2(const half* __restrict__ input, const half* __restrict__ filter, const half* __restrict__ bias,
                             half* __restrict__ output, int in_h, int in_w, int in_c, int out_c, int out_h, int out_w) {
  const int oc = blockIdx.x * blockDim.x + threadIdx.x;
  const int ox = blockIdx.y;
  const int oy = blockIdx.z % out_h;
  const int b = blockIdx.z / out_h;
  if (oc >= out_c) return;

  float acc = __half2float(bias[oc]);
  const int iy0 = oy * 2 - 1;
  const int ix0 = ox * 2 - 1;
#pragma unroll
  for (int ky = 0; ky < 3; ++ky) {
    const int iy = iy0 + ky;
    if (iy < 0 || iy >= in_h) continue;
#pragma unroll
    for (int kx = 0; kx < 3; ++kx) {
      const int ix = ix0 + kx;
      if ((unsigned)ix >= (unsigned)in_w) continue;
      const half* pixel = input + ((b * in_h + iy) * in_w + ix) * in_c;
      const half* w = filter + (ky * 3 + kx) * in_c * out_c + oc;
      for (int ic = 0; ic < in_c; ++ic, w += out_c) {
        acc += __half2float(pixel[ic]) * __half2float(*w);
      }
    }
  }
  output[((b * out_h + oy) * out_w + ox) * out_c + oc] = __float2half(fmaxf(acc, 0.0f));
}
