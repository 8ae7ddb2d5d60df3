// Stride 2 with padding: the channels are summed up in two halves by two threads of a pair, and a shuffle adds these.
// buffers: x f32 in [N, C, H, W], w f32 in [K, C, 3, 3], b f32 in [K], y f32 out [N, K, (H + 1) / 2, (W + 1) / 2]
// sizes: N=2 C=3 H=7 W=9 K=4; N=1 C=4 H=6 W=21 K=2; N=1 C=1 H=1 W=2 K=1
// evo:launch conv_pairs(x, w, b, y, C, H, W, K) grid(ceil_div((W + 1) / 2, 16), (H + 1) / 2, N * K) block(32)
__global__ void conv_pairs(const float* x, const float* w, const float* b, float* y, int C, int H, int W, int K) {
  const int OW = (W + 1) / 2, OH = (H + 1) / 2, half = threadIdx.x & 1;
  const int ox = blockIdx.x * 16 + threadIdx.x / 2, oy = blockIdx.y, k = blockIdx.z % K, n = blockIdx.z / K;
  float part = 0.0f;
  for (int c = half; c < C; c += 2)
    for (int t = 0; t < 9; ++t) {
      const int iy = 2 * oy + t / 3 - 1, ix = 2 * ox + t % 3 - 1;
      if (iy >= 0 && iy < H && ix >= 0 && ix < W)
        part = fmaf(x[((n * C + c) * H + iy) * W + ix], w[(k * C + c) * 9 + t], part);
    }
  part += __shfl_xor_sync(0xffffffff, part, 1);
  if (half == 0 && ox < OW) y[((n * K + k) * OH + oy) * OW + ox] = part + b[k];
}
