// Differences of two fields, two elements of each.
// buffers: HX f32 in [H, W], HY f32 in [H, W], C f32 in [H, W], EZ f32 inout [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch step(HX, HY, C, EZ, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void step(const float* hx, const float* hy, const float* cb, float* ez, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w || y >= h) return;
  int i = y * w + x;
  ez[i] += cb[i] * ((hy[i] - hy[i - 1]) - (hx[i] - hx[i - w]));
}
