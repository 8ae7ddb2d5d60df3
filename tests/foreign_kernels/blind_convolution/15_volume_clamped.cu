// A near miss: planes before the first and after the last one are those at the edge, not zeros.
// buffers: x f32 in [N, C, D, H, W], w f32 in [K, C, 3, 3, 3], y f32 out [N, K, D, H, W]
// sizes: N=1 C=2 K=3 D=4 H=5 W=11
// evo:launch conv3d_clamped(x, w, y, N, C, K, D, H, W) grid(ceil_div(N * K * D * H * W, 256)) block(256)
__global__ void conv3d_clamped(const float* x, const float* w, float* y, int N, int C, int K, int D, int H, int W) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * D * H * W) return;
  const int ox = i % W, oy = i / W % H, oz = i / (W * H) % D, k = i / (W * H * D) % K, n = i / (W * H * D * K);
  float sum = 0.0f;
  for (int c = 0; c < C; c++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        for (int d = 0; d < 3; d++) {
          const int z = min(max(oz + a - 1, 0), D - 1), v = oy + b - 1, u = ox + d - 1;
          if (v < 0 || v >= H || u < 0 || u >= W) continue;
          sum += x[(((n * C + c) * D + z) * H + v) * W + u] * w[(((k * C + c) * 3 + a) * 3 + b) * 3 + d];
        }
  y[i] = sum;
}
