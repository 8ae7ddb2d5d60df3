// Floats; a thread computes four filters of a pixel, so that it reads the image once for them.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C, 3, 3], Y f32 out [N, K, H, W]
// sizes: N=2 C=4 K=4 H=9 W=11; N=1 C=5 K=8 H=6 W=34
// evo:launch conv_multi(X, F, Y, C, K, H, W) grid(ceil_div(W, 32), ceil_div(H, 4), N * K / 4) block(32, 4)
__global__ void conv_multi(const float* in, const float* weights, float* out, int C, int K, int H, int W) {
  const int w = blockIdx.x * 32 + threadIdx.x;
  const int h = blockIdx.y * 4 + threadIdx.y;
  if (w >= W || h >= H) return;
  const int group = blockIdx.z % (K / 4);
  const int n = blockIdx.z / (K / 4);
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  for (int c = 0; c < C; ++c) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const int y = h + i - 1, x = w + j - 1;
        const float v = (y >= 0 && y < H && x >= 0 && x < W) ? in[((n * C + c) * H + y) * W + x] : 0.f;
#pragma unroll
        for (int f = 0; f < 4; ++f) acc[f] += v * weights[(((group * 4 + f) * C + c) * 3 + i) * 3 + j];
      }
    }
  }
  for (int f = 0; f < 4; ++f) out[((n * K + group * 4 + f) * H + h) * W + w] = acc[f];
}
