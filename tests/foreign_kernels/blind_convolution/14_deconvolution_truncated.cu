// A near miss: nothing asks for the remainder, so that pixels between those of the input take their neighbours.
// buffers: x f32 in [N, C, H, W], w f32 in [C, K, 4, 4], y f32 out [N, K, 2 * H, 2 * W]
// sizes: N=2 C=3 K=5 H=4 W=6
// evo:launch deconv_truncated(x, w, y, C, K, H, W) grid(ceil_div(W * 2, 16), ceil_div(H * 2, 16), N * K) block(16, 16)
__global__ void deconv_truncated(const float* x, const float* w, float* y, int C, int K, int H, int W) {
  const int OH = 2 * H, OW = 2 * W;
  const int ox = blockIdx.x * 16 + threadIdx.x, oy = blockIdx.y * 16 + threadIdx.y;
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  if (ox >= OW || oy >= OH) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int ty = oy + 1 - i, tx = ox + 1 - j;
        if (ty < 0 || tx < 0 || ty / 2 >= H || tx / 2 >= W) continue;
        sum += x[((n * C + c) * H + ty / 2) * W + tx / 2] * w[((c * K + k) * 4 + i) * 4 + j];
      }
  y[((n * K + k) * OH + oy) * OW + ox] = sum;
}
