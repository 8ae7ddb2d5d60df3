// Largest elements of windows of 3 x 3 with a stride of 2: a thread goes down a strip of STRIP rows. Two windows share a row of
// X, which is read once.
// evo:param BLOCK 32 64 128 256
// evo:param STRIP 1 2 4 8 14
// evo:launch max_pool_2d_strip(X, Y, H, W, ceil_div((W + 1) / 2, BLOCK), ceil_div((H + 1) / 2, STRIP)) \
//   grid(N * C * ceil_div((W + 1) / 2, BLOCK) * ceil_div((H + 1) / 2, STRIP)) block(BLOCK)

// Threads of a block, each with a column of Y.
#ifndef BLOCK
#define BLOCK 64
#endif

// Rows of Y that a thread computes.
#ifndef STRIP
#define STRIP 4
#endif

// The largest of the elements 2 * column - 1 to 2 * column + 1 of a row; nothing where there is no such row.
__device__ float LargestOfRow(const float* plane, int row, int column, int height, int width) {
  if (row < 0 || row >= height) return -INFINITY;
  const float* x = plane + (long long)row * width + 2 * column;
  float largest = x[0];
  if (column > 0) largest = fmaxf(largest, x[-1]);
  if (2 * column + 1 < width) largest = fmaxf(largest, x[1]);
  return largest;
}

__global__ void __launch_bounds__(BLOCK) max_pool_2d_strip(const float* __restrict__ X, float* __restrict__ Y, int height,
                                                           int width, int blocks_of_row, int strips) {
  const int rows = (height + 1) / 2;
  const int columns = (width + 1) / 2;
  const int column = blockIdx.x % blocks_of_row * BLOCK + threadIdx.x;
  const int first = blockIdx.x / blocks_of_row % strips * STRIP;
  const long long plane = blockIdx.x / blocks_of_row / strips;
  if (column >= columns) return;
  const float* x = X + plane * height * width;
  float* y = Y + plane * rows * columns;
  float above = LargestOfRow(x, 2 * first - 1, column, height, width);
#pragma unroll
  for (int k = 0; k < STRIP; ++k) {
    const int row = first + k;
    if (row >= rows) return;
    const float below = LargestOfRow(x, 2 * row + 1, column, height, width);
    y[(long long)row * columns + column] = fmaxf(fmaxf(above, LargestOfRow(x, 2 * row, column, height, width)), below);
    above = below;
  }
}
