// Cells as structs of three numbers, of which one is kept.
// buffers: A f32 in [H, 3 * W], B f32 inout [H, 3 * W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch step(A, B, W, H, f32(0.03)) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
struct Cell {
  float u, v, kept;
};

__global__ void step(const Cell* a, Cell* b, int w, int h, float feed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  float lu = a[i - 1].u + a[i + 1].u + a[i - w].u + a[i + w].u - 4 * a[i].u;
  float lv = a[i - 1].v + a[i + 1].v + a[i - w].v + a[i + w].v - 4 * a[i].v;
  float q = a[i].u * a[i].v * a[i].v;
  b[i].u = a[i].u + 0.16f * lu - q + feed * (1.0f - a[i].u);
  b[i].v = a[i].v + 0.08f * lv + q - feed * a[i].v;
}
