// One step of the heat equation by tiles: a block reads its tile and the elements around it into shared memory once.
// evo:param TILE_X 32 64 128 256
// evo:param TILE_Y 4 8 16 32
// evo:param THREADS_Y 1 2 4 8
// evo:constraint TILE_X * THREADS_Y >= 64 && TILE_X * THREADS_Y <= 1024
// evo:constraint TILE_Y >= THREADS_Y && (TILE_X + 2) * (TILE_Y + 2) * 4 <= 49152
// evo:launch stencil_5_point_tiled(X, Y, alpha, H, W) \
//   grid(ceil_div(W, TILE_X), ceil_div(H, TILE_Y)) block(TILE_X, THREADS_Y)

// Columns and rows of a tile.
#ifndef TILE_X
#define TILE_X 32
#endif

#ifndef TILE_Y
#define TILE_Y 16
#endif

// Rows of a tile that a block processes at once.
#ifndef THREADS_Y
#define THREADS_Y 4
#endif

__global__ void stencil_5_point_tiled(const float* __restrict__ X, float* __restrict__ Y, float alpha, int height, int width) {
  __shared__ float tile[TILE_Y + 2][TILE_X + 2];
  const int first_row = blockIdx.y * TILE_Y;
  const int first_column = blockIdx.x * TILE_X;
  for (int i = threadIdx.y; i < TILE_Y + 2; i += THREADS_Y) {
    const int row = first_row + i - 1;
    for (int j = threadIdx.x; j < TILE_X + 2; j += TILE_X) {
      const int column = first_column + j - 1;
      if (row >= 0 && row < height && column >= 0 && column < width) tile[i][j] = X[(long long)row * width + column];
    }
  }
  __syncthreads();
  const int column = first_column + threadIdx.x;
  const int j = threadIdx.x + 1;
  for (int i = threadIdx.y + 1; i <= TILE_Y; i += THREADS_Y) {
    const int row = first_row + i - 1;
    if (row >= height || column >= width) return;
    float value = tile[i][j];
    if (row > 0 && row < height - 1 && column > 0 && column < width - 1) {
      value += alpha * (tile[i - 1][j] + tile[i + 1][j] + tile[i][j - 1] + tile[i][j + 1] - 4.0f * value);
    }
    Y[(long long)row * width + column] = value;
  }
}
