// Stride, padding and dilation as parameters, bfloat16, bias.
// buffers: X bf16 in [N, C, H, W], F bf16 in [K, C, 3, 3], bias f32 in [K], Y f32 out [N, K, (H + 2 * P - 2 * DIL - 1) / S + 1, (W + 2 * P - 2 * DIL - 1) / S + 1]
// sizes: N=2 C=3 K=4 H=9 W=11 S=1 P=2 DIL=2; N=1 C=5 K=2 H=12 W=17 S=2 P=1 DIL=1
#include <cuda_bf16.h>

// evo:launch conv2d_forward(X, F, bias, Y, N, C, H, W, K, S, P, DIL) \
//   grid(ceil_div(N * K * ((H + 2 * P - 2 * DIL - 1) / S + 1) * ((W + 2 * P - 2 * DIL - 1) / S + 1), 256)) block(256)
__global__ void conv2d_forward(const __nv_bfloat16* x, const __nv_bfloat16* weight, const float* bias, float* y, int batch,
                               int in_channels, int in_h, int in_w, int out_channels, int stride, int padding, int dilation) {
  const int out_h = (in_h + 2 * padding - dilation * 2 - 1) / stride + 1;
  const int out_w = (in_w + 2 * padding - dilation * 2 - 1) / stride + 1;
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= batch * out_channels * out_h * out_w) return;
  const int ow = idx % out_w;
  const int oh = (idx / out_w) % out_h;
  const int oc = (idx / (out_w * out_h)) % out_channels;
  const int n = idx / (out_w * out_h * out_channels);
  float value = bias[oc];
  for (int ic = 0; ic < in_channels; ++ic) {
    for (int kh = 0; kh < 3; ++kh) {
      for (int kw = 0; kw < 3; ++kw) {
        const int ih = oh * stride - padding + kh * dilation;
        const int iw = ow * stride - padding + kw * dilation;
        if (ih >= 0 && ih < in_h && iw >= 0 && iw < in_w) {
          value += __bfloat162float(x[((n * in_channels + ic) * in_h + ih) * in_w + iw]) *
                   __bfloat162float(weight[((oc * in_channels + ic) * 3 + kh) * 3 + kw]);
        }
      }
    }
  }
  y[idx] = value;
}
