// Means of windows of 3 x 3: a thread goes down a strip of STRIP rows and keeps the sums of neighbours in the last rows.
// evo:param BLOCK 32 64 128 256
// evo:param STRIP 1 2 4 8 14 28
// evo:launch average_pool_strip(X, Y, H, W, ceil_div(W, BLOCK), ceil_div(H, STRIP)) \
//   grid(N * C * ceil_div(W, BLOCK) * ceil_div(H, STRIP)) block(BLOCK)

// Threads of a block, each with a column.
#ifndef BLOCK
#define BLOCK 64
#endif

// Rows that a thread computes.
#ifndef STRIP
#define STRIP 8
#endif

// The sum of an element and its neighbours in a row; nothing where there is no such row.
__device__ float SumOfRow(const float* plane, int row, int column, int height, int width) {
  if (row < 0 || row >= height) return 0.0f;
  const float* x = plane + (long long)row * width + column;
  float sum = x[0];
  if (column > 0) sum += x[-1];
  if (column + 1 < width) sum += x[1];
  return sum;
}

__global__ void __launch_bounds__(BLOCK) average_pool_strip(const float* __restrict__ X, float* __restrict__ Y, int height,
                                                            int width, int blocks_of_row, int strips) {
  const int column = blockIdx.x % blocks_of_row * BLOCK + threadIdx.x;
  const int first = blockIdx.x / blocks_of_row % strips * STRIP;
  const long long plane = blockIdx.x / blocks_of_row / strips;
  if (column >= width) return;
  const float* x = X + plane * height * width;
  float* y = Y + plane * height * width;
  const int count_of_row = 1 + (column > 0 ? 1 : 0) + (column + 1 < width ? 1 : 0);
  float above = SumOfRow(x, first - 1, column, height, width);
  float here = SumOfRow(x, first, column, height, width);
#pragma unroll
  for (int k = 0; k < STRIP; ++k) {
    const int row = first + k;
    if (row >= height) return;
    const float below = SumOfRow(x, row + 1, column, height, width);
    const int rows = 1 + (row > 0 ? 1 : 0) + (row + 1 < height ? 1 : 0);
    y[(long long)row * width + column] = (above + here + below) / (count_of_row * rows);
    above = here;
    here = below;
  }
}
