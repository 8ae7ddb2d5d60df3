#include <cuda_fp16.h>
// evo:launch reference(X, F, Y, C, K, H, W) grid(ceil_div(((H + 1) / 2) * ((W + 1) / 2), 64), K, N) block(64)
__global__ void reference(const half* X, const half* F, double* Y, int channels, int filters, int height, int width) {
  const int across = (width + 1) / 2, pixels = (height + 1) / 2 * across;
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= pixels) return;
  double sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int t = 0; t < 49; ++t) {
      const int y = 2 * (pixel / across) + t / 7 - 3, x = 2 * (pixel % across) + t % 7 - 3;
      if (y < 0 || y >= height || x < 0 || x >= width) continue;
      sum += double(__half2float(X[((blockIdx.z * channels + c) * height + y) * width + x])) *
             double(__half2float(F[(blockIdx.y * channels + c) * 49 + t]));
    }
  }
  Y[(blockIdx.z * filters + blockIdx.y) * pixels + pixel] = sum;
}
