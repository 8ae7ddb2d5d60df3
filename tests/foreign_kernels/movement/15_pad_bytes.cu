// buffers: X u8<256 in [H, W], Y u8 out [H + 4, W + 4]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch pad_replicate(X, Y, H, W, 2) grid(ceil_div(W + 4, 32), ceil_div(H + 4, 8)) block(32, 8)

__global__ void pad_replicate(const unsigned char* src, unsigned char* dst, int h, int w, int border) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int pw = w + 2 * border, ph = h + 2 * border;
  if (x >= pw || y >= ph) return;
  int sx = x - border, sy = y - border;
  if (sx < 0) sx = 0;
  if (sx > w - 1) sx = w - 1;
  if (sy < 0) sy = 0;
  if (sy > h - 1) sy = h - 1;
  dst[(size_t)y * pw + x] = src[(size_t)sy * w + sx];
}
