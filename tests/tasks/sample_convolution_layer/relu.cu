// evo:launch layer(X, F, bias, Y, N, C, K, H, W) grid(ceil_div(H * W, 128), K, N) block(128)
#include <cuda_bf16.h>
using bf16 = __nv_bfloat16;
constexpr int R = 5;

__global__ void layer(const bf16* in, const bf16* filters, const float* bias, float* out, int images, int channels, int features,
                      int height, int width) {
  const int pixel = blockIdx.x * 128 + threadIdx.x;
  const int feature = blockIdx.y;
  const int image = blockIdx.z;
  const int plane = height * width;
  if (pixel >= plane || image >= images) return;
  const int y = pixel / width, x = pixel - y * width;
  float total = bias[feature];
  for (int c = 0; c < channels; ++c) {
    const bf16* from = in + (image * channels + c) * plane;
    for (int i = 0; i < R; ++i) {
      const int down = y + i - R / 2;
      if ((unsigned)down >= (unsigned)height) continue;
      for (int j = 0; j < R; ++j) {
        const int along = x + j - R / 2;
        if ((unsigned)along < (unsigned)width)
          total = fmaf((float)from[down * width + along], (float)filters[((feature * channels + c) * R + i) * R + j], total);
      }
    }
  }
  // Negative sums are 0.
  if (total < 0.0f) total = 0.0f;
  out[(image * features + feature) * plane + pixel] = total;
}
