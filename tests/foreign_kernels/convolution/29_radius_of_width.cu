// The loops go from minus to plus half of the filter's width, which is odd.
// buffers: X f32 in [H, W], F f32 in [K, K], Y f32 out [H, W]
// sizes: H=1 W=1 K=1; H=13 W=12 K=3; H=20 W=70 K=5
// evo:launch conv2d(X, F, Y, W, H, K) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void conv2d(const float* in, const float* k, float* out, int w, int h, int ks) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0.0f;
  int r = ks / 2;
  for (int i = -r; i <= r; i++)
    for (int j = -r; j <= r; j++) {
      int yy = y + i, xx = x + j;
      if (yy >= 0 && yy < h && xx >= 0 && xx < w) s += k[(i + r) * ks + j + r] * in[yy * w + xx];
    }
  out[y * w + x] = s;
}
