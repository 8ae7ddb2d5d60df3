// Honest: a thread turns a tile of 4 x 4 in its registers.
// evo:launch honest_in_registers(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 32)) block(8, 8)
__global__ void honest_in_registers(const float* X, float* Y, int rows, int columns) {
  const int column = (blockIdx.x * 8 + threadIdx.x) * 4;
  const int row = (blockIdx.y * 8 + threadIdx.y) * 4;
  float tile[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) tile[r][c] = row + r < rows && column + c < columns ? X[(long long)(row + r) * columns + column + c] : 0.0f;
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      if (row + r < rows && column + c < columns) Y[(long long)(column + c) * rows + row + r] = tile[r][c];
    }
  }
}
