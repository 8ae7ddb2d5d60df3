// Depthwise with dilation in a segmentation network; no zeros around it, so that the output is smaller.
// buffers: x f32 in [N, C, H, W], w f32 in [C, 1, 3, 3], y f32 out [N, C, H - 4, W - 4]
// sizes: N=2 C=3 H=11 W=15; N=1 C=4 H=20 W=38; N=1 C=2 H=5 W=5
// evo:launch dw_dilated(x, w, y, N * C * (H - 4) * (W - 4), C, H, W) grid(ceil_div(N * C * (H - 4) * (W - 4), 256)) block(256)
#define DIL 2
__global__ void dw_dilated(const float* x, const float* w, float* y, int total, int C, int H, int W) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  const int P = H - 2 * DIL, Q = W - 2 * DIL;
  const int q = idx % Q, p = idx / Q % P, c = idx / (Q * P) % C, n = idx / (Q * P * C);
  const float* in = x + ((n * C + c) * H + p) * W + q;
  const float* f = w + c * 9;
  float a = 0;
#pragma unroll
  for (int t = 0; t < 9; ++t) a += f[t] * in[t / 3 * DIL * W + t % 3 * DIL];
  y[idx] = a;
}
