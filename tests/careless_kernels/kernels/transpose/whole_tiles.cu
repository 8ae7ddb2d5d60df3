// Careless: moves whole tiles of 32 x 32 only. Wrong where a size is no multiple of 32.
// evo:launch whole_tiles(X, Y, ROWS, COLS) grid(max(COLS / 32, 1), max(ROWS / 32, 1)) block(32, 8)
__global__ void whole_tiles(const float* X, float* Y, int rows, int columns) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int first = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8) {
    if (first + i < rows && column < columns) tile[i][threadIdx.x] = X[(first + i) * columns + column];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    const int to = blockIdx.x * 32 + i;
    if (to < columns && first + (int)threadIdx.x < rows) Y[to * rows + first + threadIdx.x] = tile[threadIdx.x][i];
  }
}
