// A layer with bias and ReLU in which a thread keeps four filters' sums in registers, as people do after the first lecture on reuse.
// buffers: x f32 in [N, C, H, W], w f32 in [4 * G, C, 3, 3], b f32 in [4 * G], y f32 out [N, 4 * G, H, W]
// sizes: N=2 C=3 G=2 H=7 W=9; N=1 C=4 G=1 H=5 W=35; N=1 C=1 G=3 H=1 W=2
#define FPT 4
// evo:launch conv_fpt(x, w, b, y, C, 4 * G, H, W) grid(ceil_div(W, 32), H, N * G) block(32)
__global__ void conv_fpt(const float* x, const float* w, const float* b, float* y, int C, int K, int H, int W) {
  const int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y;
  const int blocks = K / FPT, n = blockIdx.z / blocks, k0 = blockIdx.z % blocks * FPT;
  if (ox >= W) return;
  float acc[FPT];
#pragma unroll
  for (int f = 0; f < FPT; f++) acc[f] = b[k0 + f];
  for (int c = 0; c < C; c++) {
    const float* plane = x + (n * C + c) * H * W;
    for (int r = 0; r < 3; r++) {
      const int iy = oy + r - 1;
      if (iy < 0 || iy >= H) continue;
      for (int s = 0; s < 3; s++) {
        const int ix = ox + s - 1;
        if (ix < 0 || ix >= W) continue;
        const float v = plane[iy * W + ix];
#pragma unroll
        for (int f = 0; f < FPT; f++) acc[f] += v * w[(((k0 + f) * C + c) * 3 + r) * 3 + s];
      }
    }
  }
#pragma unroll
  for (int f = 0; f < FPT; f++) y[((n * K + k0 + f) * H + oy) * W + ox] = acc[f] > 0.0f ? acc[f] : 0.0f;
}
