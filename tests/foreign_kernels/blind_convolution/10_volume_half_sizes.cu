// Volumes of half with all sizes as parameters, strides, and filters that have more taps than a word has bits.
// buffers: x f16 in [N, C, D, H, W], w f16 in [K, C, 5, 3, 3], b f16 in [K], y f16 out [N, K, OD, OH, OW]
// sizes: N=2 C=3 K=4 D=7 H=6 W=9 OD=4 OH=3 OW=5; N=1 C=2 K=3 D=5 H=5 W=20 OD=3 OH=3 OW=10; N=1 C=1 K=2 D=2 H=3 W=3 OD=1 OH=2 OW=2
// evo:launch conv3d_half(x, w, b, y, N, C, K, D, H, W, OD, OH, OW, 5, 3, 3, 2, 2, 1) grid(ceil_div(OW, 32), OH * OD, N * K) block(32)
#include <cuda_fp16.h>

__global__ void conv3d_half(const half* x, const half* w, const half* b, half* y, int N, int C, int K, int D, int H, int W, int OD,
                            int OH, int OW, int KD, int KH, int KW, int stride, int padD, int pad) {
  const int ow = blockIdx.x * blockDim.x + threadIdx.x;
  if (ow >= OW) return;
  const int oh = blockIdx.y % OH, od = blockIdx.y / OH;
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  float acc = 0.0f;
  for (int c = 0; c < C; c++)
    for (int kd = 0; kd < KD; kd++) {
      const int id = od * stride - padD + kd;
      if (id < 0 || id >= D) continue;
      for (int kh = 0; kh < KH; kh++) {
        const int ih = oh * stride - pad + kh;
        if (ih < 0 || ih >= H) continue;
        for (int kw = 0; kw < KW; kw++) {
          const int iw = ow * stride - pad + kw;
          if (iw < 0 || iw >= W) continue;
          acc += __half2float(x[(((n * C + c) * D + id) * H + ih) * W + iw]) *
                 __half2float(w[(((k * C + c) * KD + kd) * KH + kh) * KW + kw]);
        }
      }
    }
  acc += __half2float(b[k]);
  y[(((n * K + k) * OD + od) * OH + oh) * OW + ow] = __float2half(acc / (1.0f + expf(-acc)));
}
