// Channels last, a thread an element in a grid-stride loop, loops over taps that begin and end within the image, bias and leaky ReLU.
// buffers: input f32 in [B, H, W, C], filter f32 in [3, 3, C, M], bias f32 in [M], output f32 out [B, H, W, M]
// sizes: B=2 H=5 W=7 C=3 M=4; B=1 H=9 W=4 C=5 M=2; B=1 H=1 W=2 C=1 M=3
// evo:launch conv_nhwc(input, filter, bias, output, B, H, W, C, M, f32(0.2)) grid(4) block(64)
__global__ void conv_nhwc(const float* __restrict__ input, const float* __restrict__ filter, const float* __restrict__ bias,
                          float* __restrict__ output, int B, int H, int W, int C, int M, float slope) {
  const int total = B * H * W * M;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += gridDim.x * blockDim.x) {
    const int m = idx % M;
    const int w = (idx / M) % W;
    const int h = (idx / M / W) % H;
    const int b = idx / M / W / H;
    const int r0 = max(0, 1 - h), r1 = min(3, H + 1 - h);
    const int s0 = max(0, 1 - w), s1 = min(3, W + 1 - w);
    float value = bias[m];
    for (int r = r0; r < r1; ++r)
      for (int s = s0; s < s1; ++s)
        for (int c = 0; c < C; ++c)
          value += input[((b * H + h + r - 1) * W + w + s - 1) * C + c] * filter[((r * 3 + s) * C + c) * M + m];
    output[idx] = value > 0.f ? value : value * slope;
  }
}
