// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch gaussian5x5(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__constant__ float kernel5[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

__device__ __forceinline__ int clampi(int v, int lo, int hi) { return v < lo ? lo : (v > hi ? hi : v); }

__global__ void gaussian5x5(const float* __restrict__ src, float* __restrict__ dst, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float acc = 0.0f;
  for (int dy = -2; dy <= 2; ++dy) {
    const int yy = clampi(y + dy, 0, height - 1);
    for (int dx = -2; dx <= 2; ++dx) {
      const int xx = clampi(x + dx, 0, width - 1);
      acc += kernel5[dy + 2] * kernel5[dx + 2] * src[yy * width + xx];
    }
  }
  dst[y * width + x] = acc;
}
