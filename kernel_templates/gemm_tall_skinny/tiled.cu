// Product of a tall matrix and a small one by tiles: a block computes TILE_M x TILE_N elements, a thread ITEMS_M x ITEMS_N of
// them in registers, and both operands go through shared memory. With TILE_N as large as N, each element of A is read once.
// evo:param TILE_M 64 128 256
// evo:param TILE_N 16 32 64
// evo:param TILE_K 8 16 32 64
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:constraint TILE_K * (TILE_M + 1 + TILE_N) * 4 <= 49152
// evo:launch gemm_tall_skinny_tiled(A, B, C, M, N, K) \
//   grid(ceil_div(M, TILE_M), ceil_div(N, TILE_N)) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))

// Rows and columns of C that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 128
#endif

#ifndef TILE_N
#define TILE_N 32
#endif

#ifndef TILE_K
#define TILE_K 16
#endif

// Rows and columns of C that a thread computes, as far apart as there are threads.
#ifndef ITEMS_M
#define ITEMS_M 4
#endif

#ifndef ITEMS_N
#define ITEMS_N 4
#endif

#define B_BY_COLUMNS 0

#include "../gemm_batched/tile.cuh"

__global__ void __launch_bounds__(kThreads) gemm_tall_skinny_tiled(const float* __restrict__ A, const float* __restrict__ B,
                                                                   float* __restrict__ C, int rows, int columns, int depth) {
  const int first_row = blockIdx.x * TILE_M;
  const int first_column = blockIdx.y * TILE_N;
  float sums[ITEMS_M][ITEMS_N] = {};
  MultiplyTile(A + (long long)first_row * depth, depth, rows - first_row, B + first_column, columns, columns - first_column, 0,
               depth, sums);
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
#pragma unroll
  for (int m = 0; m < ITEMS_M; ++m) {
    const int row = first_row + thread_m + m * kThreadsM;
#pragma unroll
    for (int n = 0; n < ITEMS_N; ++n) {
      const int column = first_column + thread_n + n * kThreadsN;
      if (row < rows && column < columns) C[(long long)row * columns + column] = sums[m][n];
    }
  }
}
