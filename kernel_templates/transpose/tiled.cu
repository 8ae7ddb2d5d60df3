// Transpose by square tiles: read along rows, turned in shared memory, written along rows.
// evo:param TILE 16 32 64
// evo:param ROWS_AT_ONCE 4 8 16
// evo:param PAD 0 1 2
// evo:param UNROLL 1 2 4
// evo:launch transpose_tiled(X, Y, ROWS, COLS) grid(ceil_div(COLS, TILE), ceil_div(ROWS, TILE)) block(TILE, ROWS_AT_ONCE)

// Rows and columns of a tile.
#ifndef TILE
#define TILE 32
#endif

// Rows of a tile that a block moves at once.
#ifndef ROWS_AT_ONCE
#define ROWS_AT_ONCE 8
#endif

// Elements between the rows of a tile, against bank conflicts.
#ifndef PAD
#define PAD 0
#endif

// How often the loop is unrolled.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void transpose_tiled(const float* X, float* Y, int rows, int columns) {
  __shared__ float tile[TILE][TILE + PAD];
  const int first_row = blockIdx.y * TILE;
  const int first_column = blockIdx.x * TILE;
  const int column = first_column + threadIdx.x;
#pragma unroll kUnroll
  for (int i = threadIdx.y; i < TILE; i += ROWS_AT_ONCE) {
    if (first_row + i < rows && column < columns) tile[i][threadIdx.x] = X[(first_row + i) * columns + column];
  }
  __syncthreads();
  const int row = first_row + threadIdx.x;
#pragma unroll kUnroll
  for (int i = threadIdx.y; i < TILE; i += ROWS_AT_ONCE) {
    if (first_column + i < columns && row < rows) Y[(first_column + i) * rows + row] = tile[threadIdx.x][i];
  }
}
