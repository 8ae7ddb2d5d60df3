// One step of the heat equation, ITEMS elements a thread; neighbouring threads take neighbouring columns.
// evo:param BLOCK_X 8 16 32 64 128
// evo:param BLOCK_Y 2 4 8
// evo:param ITEMS 1 2 4 8
// evo:constraint BLOCK_X * BLOCK_Y >= 32
// evo:launch stencil_5_point_naive(X, Y, alpha, H, W) \
//   grid(ceil_div(W, BLOCK_X), ceil_div(H, BLOCK_Y * ITEMS)) block(BLOCK_X, BLOCK_Y)

// Columns and rows of threads of a block.
#ifndef BLOCK_X
#define BLOCK_X 32
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 8
#endif

// Rows that a thread takes, BLOCK_Y apart.
#ifndef ITEMS
#define ITEMS 1
#endif

__global__ void stencil_5_point_naive(const float* X, float* Y, float alpha, int height, int width) {
  const int column = blockIdx.x * BLOCK_X + threadIdx.x;
  const int first = blockIdx.y * BLOCK_Y * ITEMS + threadIdx.y;
  if (column >= width) return;
  for (int i = 0; i < ITEMS; ++i) {
    const int row = first + i * BLOCK_Y;
    if (row >= height) return;
    const long long at = (long long)row * width + column;
    if (row == 0 || row == height - 1 || column == 0 || column == width - 1) {
      Y[at] = X[at];
    } else {
      Y[at] = X[at] + alpha * (X[at - width] + X[at + width] + X[at - 1] + X[at + 1] - 4.0f * X[at]);
    }
  }
}
