// A depthwise layer in which a thread computes two pixels of a row, with bias and a clipped ReLU written as fminf(fmaxf()).
// buffers: x f32 in [N, C, H, W], w f32 in [C, 9], b f32 in [C], y f32 out [N, C, H, W]
// sizes: N=2 C=3 H=6 W=8; N=1 C=5 H=3 W=21; N=1 C=1 H=2 W=1
// evo:launch dw2(x, w, b, y, C, H, W) grid(ceil_div(W, 64), H, N * C) block(32)
__global__ void dw2(const float* x, const float* w, const float* b, float* y, int C, int H, int W) {
  const int x0 = 2 * (blockIdx.x * 32 + threadIdx.x), oy = blockIdx.y, plane = blockIdx.z, c = plane % C;
  if (x0 >= W) return;
  const float* in = x + (long long)plane * H * W;
  float first = 0, second = 0;
  for (int i = 0; i < 3; ++i) {
    const int iy = oy - 1 + i;
    if (iy < 0 || iy >= H) continue;
    const float* line = in + iy * W;
    const float a = x0 > 0 ? line[x0 - 1] : 0, m = line[x0];
    const float d = x0 + 1 < W ? line[x0 + 1] : 0, e = x0 + 2 < W ? line[x0 + 2] : 0;
    const float *f = w + c * 9 + i * 3;
    first += f[0] * a + f[1] * m + f[2] * d;
    second += f[0] * m + f[1] * d + f[2] * e;
  }
  float* out = y + ((long long)plane * H + oy) * W + x0;
  out[0] = fmaxf(first + b[c], 0.0f);
  if (x0 + 1 < W) out[1] = fmaxf(second + b[c], 0.0f);
}
