// Macros for the elements of tensors with four dimensions; valid convolution without padding, one block for a filter of an image.
// buffers: X f16 in [B, C, H, W], F f16 in [M, C, 5, 5], Y f32 out [B, M, H - 4, W - 4]
// sizes: B=2 C=3 M=4 H=12 W=13; B=1 C=2 M=3 H=20 W=9
#include <cuda_fp16.h>
#define KS 5
#define x4d(i3, i2, i1, i0) x[(i3) * (C * H * W) + (i2) * (H * W) + (i1) * W + (i0)]
#define k4d(i3, i2, i1, i0) k[(i3) * (C * KS * KS) + (i2) * (KS * KS) + (i1) * KS + (i0)]
#define y4d(i3, i2, i1, i0) y[(i3) * (M * H_out * W_out) + (i2) * (H_out * W_out) + (i1) * W_out + (i0)]

// evo:launch conv_forward(Y, X, F, M, C, H, W) grid(M, ceil_div(W - 4, 8) * ceil_div(H - 4, 8), B) block(8, 8)
__global__ void conv_forward(float* y, const half* x, const half* k, const int M, const int C, const int H, const int W) {
  const int H_out = H - KS + 1;
  const int W_out = W - KS + 1;
  const int W_grid = (W_out + 7) / 8;
  int m = blockIdx.x;
  int h = (blockIdx.y / W_grid) * 8 + threadIdx.y;
  int w = (blockIdx.y % W_grid) * 8 + threadIdx.x;
  int b = blockIdx.z;
  float acc = 0.0f;
  if (h < H_out && w < W_out) {
    for (int c = 0; c < C; c++)
      for (int p = 0; p < KS; p++)
        for (int q = 0; q < KS; q++) acc += __half2float(x4d(b, c, h + p, w + q)) * __half2float(k4d(m, c, p, q));
    y4d(b, m, h, w) = acc;
  }
}
