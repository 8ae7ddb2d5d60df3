// buffers: SRC f32 in [H, W], DST f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:workspace tmp f32 [H, W]
// evo:launch convolveRows<4>(SRC, tmp, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
// evo:launch convolveCols<4>(tmp, DST, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__constant__ float d_taps[9] = {0.0162f, 0.0540f, 0.1216f, 0.1946f, 0.2272f, 0.1946f, 0.1216f, 0.0540f, 0.0162f};

// Nothing beyond the edges.
template <int RADIUS>
__global__ void convolveRows(const float* src, float* dst, int w, int h) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int k = -RADIUS; k <= RADIUS; k++) {
    const int d = x + k;
    if (d >= 0 && d < w) sum += src[y * w + d] * d_taps[RADIUS - k];
  }
  dst[y * w + x] = sum;
}

template <int RADIUS>
__global__ void convolveCols(const float* src, float* dst, int w, int h) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int k = -RADIUS; k <= RADIUS; k++) {
    const int d = y + k;
    if (d >= 0 && d < h) sum += src[d * w + x] * d_taps[RADIUS - k];
  }
  dst[y * w + x] = sum;
}
