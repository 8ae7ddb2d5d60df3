// The image is copied into one with zeros around it first, so that the filter's kernel tests nothing.
// buffers: image f32 in [N, C, H, W], filters f32 in [K, C, 3, 3], result f32 out [N, K, H, W]
// sizes: N=2 C=2 H=5 W=6 K=3; N=1 C=3 H=4 W=20 K=2; N=1 C=1 H=1 W=3 K=1
// evo:workspace padded f32 [N * C * (H + 2) * (W + 2)]
// evo:launch pad_zero(image, padded, H, W, N * C * (H + 2) * (W + 2)) grid(ceil_div(N * C * (H + 2) * (W + 2), 128)) block(128)
// evo:launch conv_valid(padded, filters, result, C, K, H + 2, W + 2, N * K * H * W) grid(ceil_div(N * K * H * W, 128)) block(128)
__global__ void pad_zero(const float* image, float* padded, int H, int W, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int PW = W + 2, PH = H + 2, x = i % PW - 1, y = i / PW % PH - 1, plane = i / PW / PH;
  padded[i] = x >= 0 && x < W && y >= 0 && y < H ? image[(plane * H + y) * W + x] : 0.0f;
}
__global__ void conv_valid(const float* in, const float* f, float* out, int C, int K, int H, int W, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int OW = W - 2, OH = H - 2, x = i % OW, y = i / OW % OH, k = i / OW / OH % K, n = i / OW / OH / K;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) sum += in[((n * C + c) * H + y + r) * W + x + s] * f[((k * C + c) * 3 + r) * 3 + s];
  out[i] = sum;
}
