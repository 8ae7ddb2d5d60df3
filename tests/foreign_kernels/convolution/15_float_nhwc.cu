// Floats with channels last: [image, row, column, channel] and filters [row, column, channel, filter].
// buffers: X f32 in [N, H, W, C], F f32 in [3, 3, C, K], Y f32 out [N, H, W, K]
// sizes: N=2 C=4 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
// evo:launch conv2d_nhwc(X, F, Y, N, H, W, C, K) grid(ceil_div(N * H * W * K, 128)) block(128)
__global__ void conv2d_nhwc(const float* __restrict__ in, const float* __restrict__ filt, float* __restrict__ out, int N, int H,
                            int W, int C, int K) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * H * W * K) return;
  const int k = i % K;
  const int w = i / K % W;
  const int h = i / (K * W) % H;
  const int n = i / (K * W * H);
  float acc = 0.0f;
  for (int r = 0; r < 3; ++r) {
    const int y = h + r - 1;
    if (y < 0 || y >= H) continue;
    for (int s = 0; s < 3; ++s) {
      const int x = w + s - 1;
      if (x < 0 || x >= W) continue;
      for (int c = 0; c < C; ++c) acc += in[((n * H + y) * W + x) * C + c] * filt[((r * 3 + s) * C + c) * K + k];
    }
  }
  out[i] = acc;
}
