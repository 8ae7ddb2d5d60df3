// Groups whose channels are not neighbours: a group has every G-th channel. It is no grouped convolution as it is defined.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C / G, R, R], Y f32 out [N, K, H, W]
// sizes: N=2 C=4 K=6 H=6 W=9 R=3 G=2
// evo:launch conv_interleaved(X, F, Y, N, C, K, H, W, R, G) grid(ceil_div(N * K * H * W, 128)) block(128)
__global__ void conv_interleaved(const float* x, const float* f, float* y, int N, int C, int K, int H, int W, int R, int G) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= N * K * H * W) return;
  const int col = index % W, row = index / W % H, k = index / W / H % K, n = index / W / H / K;
  const int channels = C / G, group = k / (K / G);
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < R; ++s) {
        const int at_row = row + r - R / 2, at_col = col + s - R / 2;
        if (at_row < 0 || at_row >= H || at_col < 0 || at_col >= W) continue;
        sum += x[((n * C + c * G + group) * H + at_row) * W + at_col] * f[((k * channels + c) * R + r) * R + s];
      }
  y[index] = sum;
}
