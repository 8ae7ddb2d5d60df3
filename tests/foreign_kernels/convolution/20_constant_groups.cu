// Four groups, known to the compiler. The grid has a dimension for filters and one for images.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C / 4, 3, 3], B f32 in [K], Y f32 out [N, K, H, W]
// sizes: N=2 C=8 K=12 H=6 W=9; N=1 C=12 K=4 H=5 W=7; N=1 C=4 K=280 H=3 W=4
#define GROUPS 4

// evo:launch conv_four_groups(X, F, B, Y, C, K, H, W) grid(ceil_div(H * W, 128), K, N) block(128)
__global__ void conv_four_groups(const float* __restrict__ input, const float* __restrict__ filters,
                                 const float* __restrict__ bias, float* __restrict__ output, int C, int K, int H, int W) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  const int k = blockIdx.y, n = blockIdx.z;
  if (p >= H * W) return;
  const int channels = C / GROUPS;
  const int group = k / (K / GROUPS);
  const int y = p / W, x = p % W;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c) {
    for (int r = -1; r <= 1; ++r) {
      for (int s = -1; s <= 1; ++s) {
        if (y + r < 0 || y + r >= H || x + s < 0 || x + s >= W) continue;
        sum += input[((n * C + group * channels + c) * H + y + r) * W + x + s] *
               filters[((k * channels + c) * 3 + r + 1) * 3 + s + 1];
      }
    }
  }
  output[((n * K + k) * H + y) * W + x] = sum + bias[k];
}
