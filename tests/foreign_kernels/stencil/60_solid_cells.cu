// Cells that a mask leaves alone, and a source at a place that the host passes.
// buffers: A f32 in [H, W], M u8<2 in [H, W], B f32 inout [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch step(A, B, W, H, M, W / 2, H / 2, f32(0.2)) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void step(const float* a, float* b, int w, int h, const unsigned char* solid, int sx, int sy, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  if (solid[i]) {
    b[i] = 0;
    return;
  }
  float v = a[i] + k * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4 * a[i]);
  if (x == sx && y == sy) v += 1.0f;
  b[i] = v;
}
