// A bank of filters on pictures of three channels without zeros around, two output rows a thread, half precision, bias and ReLU.
// buffers: x f16 in [N, 3, H, W], f f16 in [K, 3, 3, 3], b f16 in [K], y f16 out [N, K, H - 2, W - 2]
// sizes: N=2 H=8 W=11 K=4; N=1 H=5 W=36 K=2; N=1 H=3 W=3 K=1
// evo:launch bank(x, f, b, y, N, K, H, W) grid(ceil_div(W - 2, 32), ceil_div(H - 2, 2), N * K) block(32)
#include <cuda_fp16.h>
__global__ void bank(const half* x, const half* f, const half* b, half* y, int N, int K, int H, int W) {
  const int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 2, k = blockIdx.z % K, n = blockIdx.z / K;
  if (ox >= W - 2) return;
  float sums[2] = {0.0f, 0.0f};
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const float tap = __half2float(f[((k * 3 + c) * 3 + i) * 3 + j]);
        for (int r = 0; r < 2; ++r)
          if (oy + r < H - 2) sums[r] += __half2float(x[((n * 3 + c) * H + oy + r + i) * W + ox + j]) * tap;
      }
  for (int r = 0; r < 2; ++r)
    if (oy + r < H - 2)
      y[((n * K + k) * (H - 2) + oy + r) * (W - 2) + ox] = __float2half(fmaxf(sums[r] + __half2float(b[k]), 0.0f));
}
