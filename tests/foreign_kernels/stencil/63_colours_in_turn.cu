// The mean around each of three numbers of a pixel, in a loop over them.
// buffers: A u8 in [H, 3 * W], B u8 inout [H, 3 * W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch blur(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void blur(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  for (int c = 0; c < 3; c++) {
    int s = 0;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) s += in[((y + dy) * w + x + dx) * 3 + c];
    out[(y * w + x) * 3 + c] = s / 9;
  }
}
