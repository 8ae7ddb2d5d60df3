// Upsampling with filters of three taps and stride 2, where the output is exactly twice as large; the output's size comes with it.
// buffers: x f16 in [N, C, H, W], w f16 in [C, K, 3, 3], y f16 out [N, K, 2 * H, 2 * W]
// sizes: N=2 C=3 K=5 H=4 W=6; N=1 C=4 K=3 H=3 W=17; N=1 C=2 K=2 H=1 W=1
// evo:launch deconv_gather<half>(N * K * 2 * H * 2 * W, x, w, y, C, H, W, K, 2 * H, 2 * W, 3, 2, 1) grid(ceil_div(N * K * 4 * H * W, 128)) block(128)
#include <cuda_fp16.h>

template <typename scalar_t>
__global__ void deconv_gather(int n, const scalar_t* input, const scalar_t* weight, scalar_t* output, int in_channels, int in_h,
                              int in_w, int out_channels, int out_h, int out_w, int ksize, int stride, int pad) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int w = i % out_w, h = i / out_w % out_h, oc = i / (out_w * out_h) % out_channels, b = i / (out_w * out_h * out_channels);
  float value = 0.f;
  for (int ic = 0; ic < in_channels; ++ic) {
    const scalar_t* plane = input + (b * in_channels + ic) * in_h * in_w;
    const scalar_t* filter = weight + (ic * out_channels + oc) * ksize * ksize;
    for (int p = 0; p < ksize; ++p) {
      for (int q = 0; q < ksize; ++q) {
        const int y = h + pad - p, x = w + pad - q;
        if (y >= 0 && x >= 0 && y % stride == 0 && x % stride == 0 && y / stride < in_h && x / stride < in_w)
          value += static_cast<float>(plane[y / stride * in_w + x / stride]) * static_cast<float>(filter[p * ksize + q]);
      }
    }
  }
  output[i] = static_cast<scalar_t>(value);
}
