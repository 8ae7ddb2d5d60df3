// Fields that are read within different bounds.
// buffers: H0 f32 in [H, W], U f32 in [H, W], V f32 in [H, W], H1 f32 inout [H, W], U1 f32 inout [H, W], V1 f32 inout [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch step(H0, U, V, H1, U1, V1, W, H, f32(0.1)) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void step(const float* hh, const float* u, const float* v, float* hn, float* un, float* vn, int w, int h, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  un[i] = u[i] - c * (hh[i + 1] - hh[i - 1]);
  vn[i] = v[i] - c * (hh[i + w] - hh[i - w]);
  hn[i] = hh[i] - c * (u[i + 1] - u[i - 1] + v[i + w] - v[i - w]);
}
