// Columns of a separable filter, one pixel a thread, without shared memory; the radius is a macro.
// buffers: src f32 in [H, W], taps f32 in [5], dst f32 out [H, W]
// sizes: H=9 W=12; H=40 W=33; H=2 W=1
#define R 2
// evo:launch blur_columns(src, dst, taps, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__global__ void blur_columns(const float *src, float *dst, const float *taps, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float total = 0.f;
    int first = max(y - R, 0), last = min(y + R, h - 1);
    for (int yy = first; yy <= last; ++yy) total += src[yy * w + x] * taps[yy - y + R];
    dst[y * w + x] = total;
  }
}
