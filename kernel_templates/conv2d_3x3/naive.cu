// 3x3 convolution, one thread an element; neighbouring threads take neighbouring columns of an image.
// evo:param BLOCK_X 8 16 32 64
// evo:param BLOCK_Y 2 4 8 16
// evo:param UNROLL 1 2 4 8
// evo:constraint BLOCK_X * BLOCK_Y >= 32
// evo:launch conv2d_3x3_naive(X, F, Y, C, K, H, W) \
//   grid(N * K, ceil_div(H, BLOCK_Y), ceil_div(W, BLOCK_X)) block(BLOCK_X, BLOCK_Y)

// Columns and rows of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif

// Channels that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void conv2d_3x3_naive(const float* X, const float* F, float* Y, int channels, int filters, int height, int width) {
  const int image = blockIdx.x / filters;
  const int filter = blockIdx.x % filters;
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int column = blockIdx.z * BLOCK_X + threadIdx.x;
  if (row >= height || column >= width) return;
  const long long plane = (long long)height * width;
  const float* x = X + (long long)image * channels * plane;
  const float* f = F + (long long)filter * channels * 9;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < 3; ++i) {
      const int from_row = row + i - 1;
      if (from_row < 0 || from_row >= height) continue;
      for (int j = 0; j < 3; ++j) {
        const int from_column = column + j - 1;
        if (from_column < 0 || from_column >= width) continue;
        sum += x[c * plane + (long long)from_row * width + from_column] * f[c * 9 + i * 3 + j];
      }
    }
  }
  Y[blockIdx.x * plane + (long long)row * width + column] = sum;
}
