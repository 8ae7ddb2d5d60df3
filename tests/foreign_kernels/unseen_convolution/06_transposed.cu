// A transposed convolution with stride 2, gathered: one thread an output asks which inputs reach it.
// buffers: X f32 in [N, C, H, W], F f32 in [C, K, 4, 4], B f32 in [K], Y f32 out [N, K, H * 2, W * 2]
// sizes: N=2 C=3 K=4 H=5 W=6; N=1 C=5 K=2 H=3 W=17; N=1 C=1 K=1 H=2 W=2
// evo:launch deconv4x4s2(X, F, B, Y, C, K, H, W) grid(ceil_div(W * 2, 16), ceil_div(H * 2, 16), N * K) block(16, 16)
__global__ void deconv4x4s2(const float* x, const float* w, const float* b, float* y, int C, int K, int H, int W) {
  const int OH = 2 * H, OW = 2 * W;
  const int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y;
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  if (ox >= OW || oy >= OH) return;
  float sum = b[k];
  for (int c = 0; c < C; ++c) {
    for (int i = 0; i < 4; ++i) {
      const int ty = oy + 1 - i;
      if (ty % 2 != 0) continue;
      const int iy = ty / 2;
      if (iy < 0 || iy >= H || ty < 0) continue;
      for (int j = 0; j < 4; ++j) {
        const int tx = ox + 1 - j;
        if (tx < 0 || (tx & 1)) continue;
        const int ix = tx >> 1;
        if (ix < W) sum += x[((n * C + c) * H + iy) * W + ix] * w[((c * K + k) * 4 + i) * 4 + j];
      }
    }
  }
  y[((n * K + k) * OH + oy) * OW + ox] = sum;
}
