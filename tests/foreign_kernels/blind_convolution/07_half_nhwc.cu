// Inference in half precision: channels last, filters [K, R, S, C], sums in float, threads along the output channels.
// buffers: input f16 in [N, H, W, C], filter f16 in [K, 3, 3, C], bias f16 in [K], output f16 out [N, H, W, K]
// sizes: N=1 C=16 K=8 H=6 W=7; N=2 C=5 K=20 H=4 W=9; N=1 C=3 K=1 H=2 W=3
#include <cuda_fp16.h>

__global__ void conv2d_nhwc_fp16(const __half* __restrict__ input, const __half* __restrict__ filter,
                                 const __half* __restrict__ bias, __half* __restrict__ output, int H, int W, int C, int K, int R,
                                 int S, int pad) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int pixel = blockIdx.y;
  int n = blockIdx.z;
  int oh = pixel / W;
  int ow = pixel - oh * W;
  if (k >= K) return;

  float acc = 0.f;
  for (int r = 0; r < R; r++) {
    int ih = oh + r - pad;
    if ((unsigned)ih >= (unsigned)H) continue;
    for (int s = 0; s < S; s++) {
      int iw = ow + s - pad;
      if ((unsigned)iw >= (unsigned)W) continue;
      const __half* in_ptr = input + ((n * H + ih) * W + iw) * C;
      const __half* w_ptr = filter + ((k * R + r) * S + s) * C;
      for (int c = 0; c < C; c++) acc += __half2float(in_ptr[c]) * __half2float(w_ptr[c]);
    }
  }
  acc += __half2float(bias[k]);
  acc = acc > 0.f ? acc : 0.f;
  output[((n * H + oh) * W + ow) * K + k] = __float2half(acc);
}
// evo:launch conv2d_nhwc_fp16(input, filter, bias, output, H, W, C, K, 3, 3, 1) grid(ceil_div(K, 32), H * W, N) block(32)
