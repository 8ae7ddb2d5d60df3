// Means of windows of 3 x 3, one thread an element; at the edges of an image a window has fewer elements.
// evo:param BLOCK 64 128 256 512
// evo:param ITEMS 1 2 4 8
// evo:launch average_pool_naive(X, Y, H, W, ceil_div(H * W, BLOCK * ITEMS)) \
//   grid(N * C * ceil_div(H * W, BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void average_pool_naive(const float* X, float* Y, int height, int width, int blocks_of_plane) {
  const int plane = blockIdx.x / blocks_of_plane;
  const int block = blockIdx.x % blocks_of_plane;
  const float* x = X + (long long)plane * height * width;
  float* y = Y + (long long)plane * height * width;
  for (int k = 0; k < ITEMS; ++k) {
    const int element = (block * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= height * width) return;
    const int row = element / width;
    const int column = element % width;
    float sum = 0.0f;
    int count = 0;
    for (int r = row - 1; r <= row + 1; ++r) {
      for (int c = column - 1; c <= column + 1; ++c) {
        if (r >= 0 && r < height && c >= 0 && c < width) {
          sum += x[r * width + c];
          ++count;
        }
      }
    }
    y[element] = sum / count;
  }
}
