// 3x3 convolution by tiles: a block brings CHANNELS channels of a tile of the image and of FILTERS filters into shared memory. A
// thread computes ROWS elements below one another for all FILTERS filters, with their surroundings in registers.
// evo:param TILE_X 8 14 16 28 32
// evo:param THREADS_Y 2 4 7 8
// evo:param ROWS 1 2 4
// evo:param FILTERS 1 2 4 8 16
// evo:param CHANNELS 1 2 4 8
// evo:constraint TILE_X * THREADS_Y >= 32 && THREADS_Y * ROWS >= 2
// evo:constraint ROWS * FILTERS <= 32
// evo:constraint CHANNELS * ((THREADS_Y * ROWS + 2) * (TILE_X + 2) + FILTERS * 9) * 4 <= 49152
// evo:launch conv2d_3x3_tiled(X, F, Y, C, K, H, W) \
//   grid(N * ceil_div(K, FILTERS), ceil_div(H, THREADS_Y * ROWS), ceil_div(W, TILE_X)) block(TILE_X, THREADS_Y)

// Columns of a tile.
#ifndef TILE_X
#define TILE_X 16
#endif

// Threads below one another, and rows of each.
#ifndef THREADS_Y
#define THREADS_Y 8
#endif

#ifndef ROWS
#define ROWS 2
#endif

// Filters of a block.
#ifndef FILTERS
#define FILTERS 4
#endif

// Channels that are in shared memory at a time.
#ifndef CHANNELS
#define CHANNELS 2
#endif

constexpr int kThreads = TILE_X * THREADS_Y;
constexpr int kTileY = THREADS_Y * ROWS;

__global__ void __launch_bounds__(kThreads) conv2d_3x3_tiled(const float* __restrict__ X, const float* __restrict__ F,
                                                             float* __restrict__ Y, int channels, int filters, int height,
                                                             int width) {
  __shared__ float tile[CHANNELS][kTileY + 2][TILE_X + 2];
  __shared__ float weights[CHANNELS][FILTERS][9];
  const int groups = (filters + FILTERS - 1) / FILTERS;
  const long long image = blockIdx.x / groups;
  const int first_filter = blockIdx.x % groups * FILTERS;
  const int first_row = blockIdx.y * kTileY;
  const int first_column = blockIdx.z * TILE_X;
  const int thread = threadIdx.y * TILE_X + threadIdx.x;
  float sums[FILTERS][ROWS] = {};
  for (int first = 0; first < channels; first += CHANNELS) {
    for (int i = thread; i < CHANNELS * (kTileY + 2) * (TILE_X + 2); i += kThreads) {
      const int x = i % (TILE_X + 2);
      const int y = i / (TILE_X + 2) % (kTileY + 2);
      const int c = i / (TILE_X + 2) / (kTileY + 2);
      const int row = first_row + y - 1;
      const int column = first_column + x - 1;
      const bool inside = first + c < channels && row >= 0 && row < height && column >= 0 && column < width;
      tile[c][y][x] = inside ? X[((image * channels + first + c) * height + row) * width + column] : 0.0f;
    }
    for (int i = thread; i < CHANNELS * FILTERS * 9; i += kThreads) {
      const int k = i / 9 % FILTERS;
      const int c = i / 9 / FILTERS;
      const bool inside = first + c < channels && first_filter + k < filters;
      weights[c][k][i % 9] = inside ? F[((first_filter + k) * (long long)channels + first + c) * 9 + i % 9] : 0.0f;
    }
    __syncthreads();
#pragma unroll 1
    for (int c = 0; c < CHANNELS; ++c) {
      float around[ROWS + 2][3];
#pragma unroll
      for (int i = 0; i < (ROWS + 2) * 3; ++i) around[i / 3][i % 3] = tile[c][threadIdx.y * ROWS + i / 3][threadIdx.x + i % 3];
#pragma unroll
      for (int k = 0; k < FILTERS; ++k) {
#pragma unroll
        for (int i = 0; i < 9; ++i) {
          const float weight = weights[c][k][i];
#pragma unroll
          for (int r = 0; r < ROWS; ++r) sums[k][r] += around[r + i / 3][i % 3] * weight;
        }
      }
    }
    __syncthreads();   // all threads are done with the channels before the next ones replace them
  }
  const int column = first_column + threadIdx.x;
#pragma unroll
  for (int k = 0; k < FILTERS; ++k) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = first_row + threadIdx.y * ROWS + r;
      if (first_filter + k < filters && row < height && column < width) {
        Y[((image * filters + first_filter + k) * height + row) * width + column] = sums[k][r];
      }
    }
  }
}
