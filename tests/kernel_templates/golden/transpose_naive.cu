// Transpose, ITEMS elements a thread: neighbouring threads read neighbouring columns and write far apart.
// evo:param BLOCK_X 8 16 32 64
// evo:param BLOCK_Y 1 2 4 8 16
// evo:param ITEMS 1 2 4 8
// evo:constraint BLOCK_X * BLOCK_Y >= 32
// evo:launch transpose_naive(X, Y, ROWS, COLS) \
//   grid(ceil_div(COLS, BLOCK_X), ceil_div(ROWS, BLOCK_Y * ITEMS)) block(BLOCK_X, BLOCK_Y)

// Columns and rows of a block.
#ifndef BLOCK_X
#define BLOCK_X 8
#endif

#ifndef BLOCK_Y
#define BLOCK_Y 4
#endif

// Rows that a thread takes, BLOCK_Y apart.
#ifndef ITEMS
#define ITEMS 4
#endif

__global__ void transpose_naive(const float* X, float* Y, int rows, int columns) {
  const int column = blockIdx.x * BLOCK_X + threadIdx.x;
  const int first = blockIdx.y * BLOCK_Y * ITEMS + threadIdx.y;
  if (column >= columns) return;
  for (int i = 0; i < ITEMS; ++i) {
    const int row = first + i * BLOCK_Y;
    if (row < rows) Y[column * rows + row] = X[row * columns + column];
  }
}
