// Largest elements of windows of 3 x 3 with a stride of 2, one thread an element.
// evo:param BLOCK 64 128 256 512
// evo:param ITEMS 1 2 4 8
// evo:launch max_pool_2d_naive(X, Y, H, W, ceil_div(((H + 1) / 2) * ((W + 1) / 2), BLOCK * ITEMS)) \
//   grid(N * C * ceil_div(((H + 1) / 2) * ((W + 1) / 2), BLOCK * ITEMS)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Elements that a thread computes, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void max_pool_2d_naive(const float* X, float* Y, int height, int width, int blocks_of_plane) {
  const int rows = (height + 1) / 2;
  const int columns = (width + 1) / 2;
  const int plane = blockIdx.x / blocks_of_plane;
  const int block = blockIdx.x % blocks_of_plane;
  const float* x = X + (long long)plane * height * width;
  float* y = Y + (long long)plane * rows * columns;
  for (int k = 0; k < ITEMS; ++k) {
    const int element = (block * ITEMS + k) * BLOCK + threadIdx.x;
    if (element >= rows * columns) return;
    const int row = element / columns;
    const int column = element % columns;
    float largest = -INFINITY;
    for (int r = 2 * row - 1; r <= 2 * row + 1; ++r) {
      for (int c = 2 * column - 1; c <= 2 * column + 1; ++c) {
        if (r >= 0 && r < height && c >= 0 && c < width) largest = fmaxf(largest, x[r * width + c]);
      }
    }
    y[element] = largest;
  }
}
