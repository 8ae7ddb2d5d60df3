// An image filter of a course: each thread computes four neighbouring pixels from a row that it keeps in registers, and scales them.
// buffers: img f32 in [H, W], mask f32 in [5, 5], out f32 out [H, W]
// sizes: H=9 W=21; H=4 W=70; H=1 W=3
// evo:launch filter4(img, mask, out, H, W) grid(ceil_div(W, 128), ceil_div(H, 4)) block(32, 4)
__global__ void filter4(const float* __restrict__ img, const float* __restrict__ mask, float* __restrict__ out, int H, int W) {
  int x0 = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= H || x0 >= W) return;
  float acc[4] = {0.f, 0.f, 0.f, 0.f};
  for (int i = -2; i <= 2; ++i) {
    int yy = y + i;
    if (yy < 0 || yy >= H) continue;
    float row[8];
    for (int t = 0; t < 8; ++t) {
      int xx = x0 + t - 2;
      row[t] = (xx >= 0 && xx < W) ? img[yy * W + xx] : 0.f;
    }
    for (int j = 0; j < 5; ++j) {
      float m = mask[(i + 2) * 5 + j];
      for (int t = 0; t < 4; ++t) acc[t] += m * row[t + j];
    }
  }
  for (int t = 0; t < 4; ++t)
    if (x0 + t < W) out[y * W + x0 + t] = acc[t] * 0.0625f;
}
