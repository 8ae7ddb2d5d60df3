// Honest: a warp turns a tile of 32 x 32 by shuffles: in step s lane l gives its value of row (l + s) mod 32.
// evo:launch honest_shuffles(X, Y, ROWS, COLS) grid(ceil_div(COLS, 32), ceil_div(ROWS, 32)) block(32)
__global__ void honest_shuffles(const float* X, float* Y, int rows, int columns) {
  const int lane = threadIdx.x;
  const int row = blockIdx.y * 32;
  const int column = blockIdx.x * 32;
  for (int step = 0; step < 32; ++step) {
    // Lane l reads the element (l, l + step) of the tile; the lane l + step writes it.
    const int c = (lane + step) % 32;
    const float mine = row + lane < rows && column + c < columns ? X[(long long)(row + lane) * columns + column + c] : 0.0f;
    const int from = (lane + 32 - step) % 32;
    const float other = __shfl_sync(0xffffffffu, mine, from);
    if (row + from < rows && column + lane < columns) Y[(long long)(column + lane) * rows + row + from] = other;
  }
}
