// The gradient of a layer's input in float: the images are that of the output, smaller by the filter's size less one.
// buffers: dy f32 in [N, K, H - 2, W - 2], w f32 in [K, C, 3, 3], dx f32 out [N, C, H, W]
// sizes: N=2 C=3 K=4 H=9 W=12; N=1 C=2 K=3 H=5 W=35; N=1 C=2 K=2 H=3 W=3
// evo:launch grad_input(dy, w, dx, N, C, K, H, W) grid(ceil_div(W, 16), ceil_div(H, 8), N * C) block(16, 8)
#define R 3
__global__ void grad_input(const float* dy, const float* w, float* dx, int N, int C, int K, int H, int W) {
  const int P = H - R + 1, Q = W - R + 1;
  const int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  const int c = blockIdx.z % C, n = blockIdx.z / C;
  if (y >= H || x >= W) return;
  float g = 0.0f;
  for (int k = 0; k < K; k++)
    for (int r = R - 1; r >= 0; r--)
      for (int s = R - 1; s >= 0; s--)
        if (y - r >= 0 && y - r < P && x - s >= 0 && x - s < Q)
          g += dy[((n * K + k) * P + y - r) * Q + x - s] * w[((k * C + c) * R + r) * R + s];
  dx[((n * C + c) * H + y) * W + x] = g;
}
