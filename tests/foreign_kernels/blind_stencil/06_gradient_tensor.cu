// Corner detector, first half: central differences of grey values and their products, into three planes at once.
// buffers: img f32 in [H, W], ixx f32 out [H, W], iyy f32 out [H, W], ixy f32 out [H, W]
// sizes: H=1 W=1; H=13 W=20; H=40 W=130
#define PIXEL(x, y) img[min(max((y), 0), h - 1) * w + min(max((x), 0), w - 1)]

__global__ void structure_tensor(const float* img, float* ixx, float* iyy, float* ixy, int w, int h) {
  int x = threadIdx.x + blockIdx.x * blockDim.x;
  int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x < w) {
    if (y < h) {
      float gx = 0.5f * (PIXEL(x + 1, y) - PIXEL(x - 1, y));
      float gy = 0.5f * (PIXEL(x, y + 1) - PIXEL(x, y - 1));
      int o = y * w + x;
      ixx[o] = gx * gx;
      iyy[o] = gy * gy;
      ixy[o] = gx * gy;
    }
  }
}
// evo:launch structure_tensor(img, ixx, iyy, ixy, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
