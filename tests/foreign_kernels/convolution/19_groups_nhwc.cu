// Halves with channels last and groups of filters. The launch line passes how many channels and filters a group has.
// buffers: X f16 in [N, H, W, C], F f16 in [K, 3, 3, C / G], Y f16 out [N, H, W, K]
// sizes: N=2 H=6 W=9 C=8 K=6 G=2; N=1 H=5 W=8 C=9 K=6 G=3; N=2 H=3 W=4 C=4 K=140 G=2
#include <cuda_fp16.h>

// evo:launch grouped_nhwc(X, F, Y, N, H, W, C / G, K / G, G) grid(ceil_div(N * H * W * K, 128)) block(128)
__global__ void grouped_nhwc(const __half* __restrict__ x, const __half* __restrict__ w, __half* __restrict__ y, int N, int H,
                             int W, int group_in, int group_out, int groups) {
  const int out_channels = group_out * groups, in_channels = group_in * groups;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * H * W * out_channels) return;
  const int k = i % out_channels, pixel = i / out_channels;
  const int col = pixel % W, row = pixel / W % H, n = pixel / W / H;
  const int first = k / group_out * group_in;
  float sum = 0.0f;
  for (int r = 0; r < 3; ++r) {
    const int at_row = row + r - 1;
    if (at_row < 0 || at_row >= H) continue;
    for (int s = 0; s < 3; ++s) {
      const int at_col = col + s - 1;
      if (at_col < 0 || at_col >= W) continue;
      const __half* from = x + ((size_t)(n * H + at_row) * W + at_col) * in_channels + first;
      const __half* taps = w + (size_t)((k * 3 + r) * 3 + s) * group_in;
      for (int c = 0; c < group_in; ++c) sum += __half2float(from[c]) * __half2float(taps[c]);
    }
  }
  y[i] = __float2half(fmaxf(sum, 0.0f));
}
