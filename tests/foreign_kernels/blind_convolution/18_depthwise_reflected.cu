// A near miss: the image goes on as a mirror beyond its edges.
// buffers: x f32 in [N, C, H, W], w f32 in [C, 3, 3], y f32 out [N, C, H, W]
// sizes: N=2 C=3 H=11 W=15
// evo:launch dw_reflect(x, w, y, C, H, W) grid(ceil_div(W, 32), ceil_div(H, 4), N * C) block(32, 4)
__global__ void dw_reflect(const float* x, const float* w, float* y, int C, int H, int W) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  const int plane = blockIdx.z, c = plane % C;
  if (ox >= W || oy >= H) return;
  float sum = 0.f;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      int iy = abs(oy + i - 1), ix = abs(ox + j - 1);
      if (iy >= H) iy = 2 * H - 2 - iy;
      if (ix >= W) ix = 2 * W - 2 - ix;
      sum += x[(plane * H + iy) * W + ix] * w[(c * 3 + i) * 3 + j];
    }
  y[(plane * H + oy) * W + ox] = sum;
}
