// evo:launch convolve(X, F, Y, C, K, H, W) grid(ceil_div(W, 16), ceil_div(H, 16), N * K) block(16, 16)
#include <cuda_fp16.h>

// Zero outside of the image.
__device__ float pixel(const half* plane, int y, int x, int height, int width) {
  return y >= 0 && y < height && x >= 0 && x < width ? __half2float(plane[y * width + x]) : 0.0f;
}

__global__ void convolve(const half* __restrict__ x, const half* __restrict__ f, half* __restrict__ y, int C, int K, int H,
                         int W) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const int n = blockIdx.z / K, k = blockIdx.z % K;
  if (row >= H || column >= W) return;
  const half* image = x + (size_t)n * C * H * W;
  const half* filter = f + k * C * 9;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        sum += pixel(image + c * H * W, row + i, column + j, H, W) * (float)*filter++;
      }
    }
  }
  const size_t at = ((size_t)blockIdx.z * H + row) * W + column;
  y[at] = __float2half(sum);
}
