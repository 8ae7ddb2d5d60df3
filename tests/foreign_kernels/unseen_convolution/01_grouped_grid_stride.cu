// As a framework writes it: groups, stride, padding and dilation as parameters, a loop over flat indices, an optional bias.
// buffers: X f32 in [N, C, H, W], F f32 in [K, C / G, R, R], B f32 in [K], Y f32 out [N, K, OH, OW]
// sizes: N=2 C=4 K=6 G=2 H=9 W=11 R=3 OH=5 OW=6; N=1 C=3 K=4 G=1 H=8 W=10 R=2 OH=5 OW=6; N=1 C=6 K=3 G=3 H=5 W=7 R=1 OH=4 OW=5
#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

// evo:launch conv2d_forward(N * K * OH * OW, X, F, B, Y, C, H, W, K, OH, OW, R, R, 2, 2, 1, 1, 1, 1, G) grid(8) block(128)
template <typename T>
__device__ T at_or_zero(const T* plane, int y, int x, int height, int width) {
  if (y < 0 || y >= height || x < 0 || x >= width) return T(0);
  return plane[y * width + x];
}

__global__ void conv2d_forward(const int count, const float* in, const float* weight, const float* bias, float* out,
                               const int channels, const int height, const int width, const int out_channels,
                               const int out_height, const int out_width, const int kernel_h, const int kernel_w,
                               const int stride_h, const int stride_w, const int pad_h, const int pad_w, const int dilation_h,
                               const int dilation_w, const int groups) {
  KERNEL_LOOP(index, count) {
    const int ow = index % out_width;
    const int oh = (index / out_width) % out_height;
    const int oc = (index / out_width / out_height) % out_channels;
    const int n = index / out_width / out_height / out_channels;
    const int channels_per_group = channels / groups;
    const int g = oc / (out_channels / groups);
    float value = bias ? bias[oc] : 0.f;
    for (int c = 0; c < channels_per_group; ++c) {
      const float* plane = in + (n * channels + g * channels_per_group + c) * height * width;
      const float* filter = weight + (oc * channels_per_group + c) * kernel_h * kernel_w;
      for (int i = 0; i < kernel_h; ++i) {
        for (int j = 0; j < kernel_w; ++j) {
          value += at_or_zero(plane, oh * stride_h - pad_h + i * dilation_h, ow * stride_w - pad_w + j * dilation_w, height, width) *
                   filter[i * kernel_w + j];
        }
      }
    }
    out[index] = value;
  }
}
