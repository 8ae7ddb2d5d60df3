// Depthwise 3x3 convolution: a thread computes a strip of ROWS elements below one another and reads each row of X once for the
// three rows of Y that need it.
// evo:param BLOCK_X 8 16 32 64
// evo:param BLOCK_Y 1 2 4 8
// evo:param ROWS 2 4 7 8 14
// evo:constraint BLOCK_X * BLOCK_Y >= 32
// evo:launch conv2d_depthwise_strip(X, F, Y, C, H, W) \
//   grid(N * C, ceil_div(H, BLOCK_Y * ROWS), ceil_div(W, BLOCK_X)) block(BLOCK_X, BLOCK_Y)

// Columns and strips of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 2
#endif

// Rows of a strip.
#ifndef ROWS
#define ROWS 4
#endif

__global__ void conv2d_depthwise_strip(const float* __restrict__ X, const float* __restrict__ F, float* __restrict__ Y,
                                       int channels, int height, int width) {
  const int first = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
  const int column = blockIdx.z * BLOCK_X + threadIdx.x;
  if (first >= height || column >= width) return;
  const long long plane = blockIdx.x * (long long)height * width;
  const float* x = X + plane + column;
  const float* filter = F + blockIdx.x % channels * 9LL;
  float f[3][3];
#pragma unroll
  for (int i = 0; i < 9; ++i) f[i / 3][i % 3] = filter[i];
  float sums[ROWS] = {};
#pragma unroll
  for (int i = -1; i <= ROWS; ++i) {
    const int row = first + i;
    if (row < 0 || row >= height) continue;
    const float* from = x + (long long)row * width;
    const float left = column > 0 ? from[-1] : 0.0f;
    const float middle = from[0];
    const float right = column < width - 1 ? from[1] : 0.0f;
#pragma unroll
    for (int to = 0; to < ROWS; ++to) {
      const int j = i - to + 1;   // the row of the filter
      if (j >= 0 && j < 3) sums[to] += left * f[j][0] + middle * f[j][1] + right * f[j][2];
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (first + i < height) Y[plane + (long long)(first + i) * width + column] = sums[i];
  }
}
