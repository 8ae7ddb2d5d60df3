// Depthwise 3x3 convolution, one thread an element; neighbouring threads take neighbouring columns of an image.
// evo:param BLOCK_X 8 16 32 64
// evo:param BLOCK_Y 2 4 8 16
// evo:param UNROLL 1 3
// evo:constraint BLOCK_X * BLOCK_Y >= 32
// evo:launch conv2d_depthwise_naive(X, F, Y, C, H, W) \
//   grid(N * C, ceil_div(H, BLOCK_Y), ceil_div(W, BLOCK_X)) block(BLOCK_X, BLOCK_Y)

// Columns and rows of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif

// Rows of the filter that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void conv2d_depthwise_naive(const float* X, const float* F, float* Y, int channels, int height, int width) {
  const int channel = blockIdx.x % channels;
  const int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  const int column = blockIdx.z * BLOCK_X + threadIdx.x;
  if (row >= height || column >= width) return;
  const long long plane = blockIdx.x * (long long)height * width;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = 0; i < 3; ++i) {
    const int from_row = row + i - 1;
    if (from_row < 0 || from_row >= height) continue;
    for (int j = 0; j < 3; ++j) {
      const int from_column = column + j - 1;
      if (from_column < 0 || from_column >= width) continue;
      sum += X[plane + (long long)from_row * width + from_column] * F[channel * 9LL + i * 3 + j];
    }
  }
  Y[plane + (long long)row * width + column] = sum;
}
