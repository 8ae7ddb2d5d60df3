// Floats; sizes of filters, strides and paddings as parameters.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C, R, R], Y f32 out [N, K, (H + 2 * P - R) / S + 1, (W + 2 * P - R) / S + 1]
// sizes: N=2 C=4 K=4 H=9 W=11 R=3 S=2 P=1; N=1 C=5 K=3 H=8 W=35 R=4 S=1 P=2
// evo:launch conv2d(X, F, Y, N, C, K, H, W, R, S, P) \
//   grid(ceil_div((W + 2 * P - R) / S + 1, 16), ceil_div((H + 2 * P - R) / S + 1, 8), N * K) block(16, 8)
__global__ void conv2d(const float* input, const float* weights, float* output, int N, int C, int K, int H, int W, int R, int S,
                       int P) {
  const int out_h = (H + 2 * P - R) / S + 1, out_w = (W + 2 * P - R) / S + 1;
  const int ow = blockIdx.x * blockDim.x + threadIdx.x, oh = blockIdx.y * blockDim.y + threadIdx.y;
  const int n = blockIdx.z / K, k = blockIdx.z % K;
  if (ow >= out_w || oh >= out_h) return;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      for (int s = 0; s < R; ++s) {
        const int ih = oh * S - P + r, iw = ow * S - P + s;
        if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
        sum += input[((n * C + c) * H + ih) * W + iw] * weights[((k * C + c) * R + r) * R + s];
      }
  output[((n * K + k) * out_h + oh) * out_w + ow] = sum;
}
