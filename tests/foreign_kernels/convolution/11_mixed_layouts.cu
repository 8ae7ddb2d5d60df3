// Images with channels last, filters and output with channels first, dilated by two.
// buffers: X f16 in [N, H, W, C], F f16 in [K, C, 3, 3], Y f32 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_fp16.h>

// evo:launch conv_mixed(X, F, Y, C, K, H, W) grid(ceil_div(W, 32), ceil_div(H, 4), N * K) block(32, 4)
__global__ void conv_mixed(const half* X, const half* F, float* Y, int C, int K, int H, int W) {
  const int w = blockIdx.x * 32 + threadIdx.x;
  const int h = blockIdx.y * 4 + threadIdx.y;
  const int k = blockIdx.z % K;
  const int n = blockIdx.z / K;
  if (w >= W || h >= H) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int i = 0; i < 3; ++i) {
      const int y = h + 2 * i - 2;
      for (int j = 0; j < 3; ++j) {
        const int x = w + 2 * j - 2;
        if (y < 0 || y >= H || x < 0 || x >= W) continue;
        sum += __half2float(X[((n * H + y) * W + x) * C + c]) * __half2float(F[((k * C + c) * 3 + i) * 3 + j]);
      }
    }
  }
  Y[(blockIdx.z * H + h) * W + w] = sum;
}
