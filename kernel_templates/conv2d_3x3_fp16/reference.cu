// 3x3 convolution of fp16 as its definition says it, in double precision. One thread computes one element.
// evo:launch conv2d_3x3_fp16_reference(X, F, Y, N, C, K, H, W) grid(ceil_div(N * K * H * W, 128)) block(128)
#include <cuda_fp16.h>

__global__ void conv2d_3x3_fp16_reference(const half* X, const half* F, double* Y, int images, int channels, int filters,
                                          int height, int width) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)images * filters * height * width) return;
  const int w = element % width;
  const int h = element / width % height;
  const int k = element / width / height % filters;
  const int n = element / width / height / filters;
  double sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const int y = h + i - 1;
        const int x = w + j - 1;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        const long long pixel = (((long long)n * channels + c) * height + y) * width + x;
        const long long weight = (((long long)k * channels + c) * 3 + i) * 3 + j;
        sum += double(__half2float(X[pixel])) * double(__half2float(F[weight]));
      }
    }
  }
  Y[element] = sum;
}
