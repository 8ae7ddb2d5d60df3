// Pointers that walk over channels and taps, bounds of the taps instead of a guard, stride two, size_t.
// buffers: X f16 in [N, C, H, W], F f16 in [K, C, 3, 3], Y f16 out [N, K, (H - 1) / 2 + 1, (W - 1) / 2 + 1]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_fp16.h>

// evo:launch conv_s2(X, F, Y, N, C, K, H, W) \
//   grid(ceil_div((W - 1) / 2 + 1, 16), ceil_div((H - 1) / 2 + 1, 8), N * K) block(16, 8)
__global__ void conv_s2(const __half* x, const __half* f, __half* y, int N, int C, int K, int H, int W) {
  const int oh = (H - 1) / 2 + 1, ow = (W - 1) / 2 + 1;
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  const int p = blockIdx.y * blockDim.y + threadIdx.y;
  if (q >= ow || p >= oh) return;
  const int k = blockIdx.z % K;
  const size_t n = blockIdx.z / K;
  const __half* plane = x + n * C * H * W;
  const __half* taps = f + (size_t)k * C * 9;
  const int r0 = max(0, 1 - 2 * p), r1 = min(3, H + 1 - 2 * p);
  const int s0 = max(0, 1 - 2 * q), s1 = min(3, W + 1 - 2 * q);
  float acc = 0.0f;
  for (int c = 0; c < C; ++c, plane += H * W, taps += 9) {
    for (int r = r0; r < r1; ++r) {
      for (int s = s0; s < s1; ++s) {
        acc = fmaf(__half2float(plane[(2 * p + r - 1) * W + 2 * q + s - 1]), __half2float(taps[r * 3 + s]), acc);
      }
    }
  }
  y[((n * K + k) * oh + p) * ow + q] = __float2half(acc);
}
