// A template over the type and the size of a filter.
// buffers: X f16 in [N, C, H, W], F f16 in [K, C, 3, 3], Y f16 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_fp16.h>

// evo:launch conv_same<__half, 3>(X, F, Y, C, K, H, W) grid(ceil_div(W, 32), ceil_div(H, 8), N * K) block(32, 8)
template <typename T, int KERNEL>
__global__ void conv_same(const T* __restrict__ in, const T* __restrict__ w, T* __restrict__ out, int C, int K, int H, int W) {
  constexpr int R = KERNEL / 2;
  const int ox = blockIdx.x * blockDim.x + threadIdx.x;
  const int oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= W || oy >= H) return;
  const int k = blockIdx.z % K;
  const int n = blockIdx.z / K;
  float acc = 0.f;
  for (int c = 0; c < C; ++c)
    for (int i = -R; i <= R; ++i)
      for (int j = -R; j <= R; ++j) {
        const int y = oy + i, x = ox + j;
        if (y < 0 || y >= H || x < 0 || x >= W) continue;
        acc += static_cast<float>(in[((n * C + c) * H + y) * W + x]) *
               static_cast<float>(w[((k * C + c) * KERNEL + i + R) * KERNEL + j + R]);
      }
  out[((n * K + k) * H + oy) * W + ox] = static_cast<T>(acc);
}
