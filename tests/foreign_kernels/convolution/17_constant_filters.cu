// Filters in constant memory, a padding of 1, bias and ReLU.
// buffers: X f32 in [N, C, H, W], F f32 in [4, 3, 3, 3], B f32 in [4], Y f32 out [N, 4, H, W]
// sizes: N=2 C=3 H=9 W=11; N=1 C=3 H=6 W=34; N=1 C=3 H=1 W=2
constexpr int kFilters = 4, kChannels = 3, kTaps = 3;
__constant__ float weights[kFilters * kChannels * kTaps * kTaps];

// evo:constant weights = F
// evo:launch conv_relu(X, B, Y, H, W) grid(ceil_div(W, 32), H, N * 4) block(32)
__global__ void conv_relu(const float* __restrict__ in, const float* __restrict__ bias, float* __restrict__ out, int height,
                          int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const int image = blockIdx.z / kFilters, k = blockIdx.z % kFilters;
  if (x >= width) return;
  float acc = bias[k];
  for (int c = 0; c < kChannels; ++c) {
    for (int i = 0; i < kTaps; ++i) {
      for (int j = 0; j < kTaps; ++j) {
        const int yy = y + i - 1, xx = x + j - 1;
        if (yy < 0 || yy >= height || xx < 0 || xx >= width) continue;
        acc += in[((image * kChannels + c) * height + yy) * width + xx] * weights[((k * kChannels + c) * kTaps + i) * kTaps + j];
      }
    }
  }
  out[((image * kFilters + k) * height + y) * width + x] = fmaxf(acc, 0.0f);
}
