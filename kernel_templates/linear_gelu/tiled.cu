// A linear layer and GELU by tiles: a block computes TILE_M x TILE_N elements, a thread ITEMS_M x ITEMS_N of them in registers,
// and both operands go through shared memory. Bias and GELU are applied to the sums before they are stored.
// evo:param TILE_M 32 64 128
// evo:param TILE_N 32 64 128
// evo:param TILE_K 8 16 32
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:launch linear_gelu_tiled(X, W, bias, Y, M, N, K) \
//   grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M)) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))

// Rows and columns of Y that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 64
#endif

#ifndef TILE_N
#define TILE_N 64
#endif

#ifndef TILE_K
#define TILE_K 16
#endif

// Rows and columns of Y that a thread computes, as far apart as there are threads.
#ifndef ITEMS_M
#define ITEMS_M 4
#endif

#ifndef ITEMS_N
#define ITEMS_N 4
#endif

#define B_BY_COLUMNS 1

#include "../gemm_batched/tile.cuh"

__device__ __forceinline__ float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__global__ void __launch_bounds__(kThreads) linear_gelu_tiled(const float* __restrict__ X, const float* __restrict__ W,
                                                              const float* __restrict__ bias, float* __restrict__ Y, int rows,
                                                              int columns, int depth) {
  const int first_row = blockIdx.y * TILE_M;
  const int first_column = blockIdx.x * TILE_N;
  float sums[ITEMS_M][ITEMS_N] = {};
  MultiplyTile(X + (long long)first_row * depth, depth, rows - first_row, W + (long long)first_column * depth, depth,
               columns - first_column, 0, depth, sums);
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
#pragma unroll
  for (int m = 0; m < ITEMS_M; ++m) {
    const int row = first_row + thread_m + m * kThreadsM;
#pragma unroll
    for (int n = 0; n < ITEMS_N; ++n) {
      const int column = first_column + thread_n + n * kThreadsN;
      if (row < rows && column < columns) Y[(long long)row * columns + column] = Gelu(sums[m][n] + bias[column]);
    }
  }
}
