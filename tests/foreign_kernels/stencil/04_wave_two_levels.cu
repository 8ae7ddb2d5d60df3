// buffers: P f32 in [H, W], C f32 in [H, W], N f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch wave_step(N, C, P, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void wave_step(float *next, const float *curr, const float *prev, int W, int H) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= W || y >= H) return;
  const int idx = y * W + x;
  if (x == 0 || x == W - 1 || y == 0 || y == H - 1) {
    next[idx] = 0.0f;
    return;
  }
  const float lap = curr[idx - 1] + curr[idx + 1] + curr[idx - W] + curr[idx + W] - 4.0f * curr[idx];
  next[idx] = 2.0f * curr[idx] - prev[idx] + 0.2f * lap;
}
