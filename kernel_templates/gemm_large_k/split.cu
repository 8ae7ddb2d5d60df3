// Matrix product with the sum cut into PARTS: a block computes TILE_M x TILE_N elements over its part of the depth, by tiles in
// shared memory, and a second kernel adds up the parts in their order.
// evo:param PARTS 16 32 64 128 256
// evo:param TILE_M 32 64 128
// evo:param TILE_N 32 64 128
// evo:param TILE_K 8 16 32
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:workspace parts f32 [PARTS, M, N]
// evo:launch gemm_large_k_parts(A, B, parts, M, N, K) \
//   grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M), PARTS) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))
// evo:launch gemm_large_k_sum(parts, C, i64(M * N)) grid(ceil_div(M * N, 128)) block(128)

// Parts of the depth.
#ifndef PARTS
#define PARTS 64
#endif

// Rows and columns of C that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 64
#endif

#ifndef TILE_N
#define TILE_N 64
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

__global__ void __launch_bounds__(kThreads) gemm_large_k_parts(const float* __restrict__ A, const float* __restrict__ B,
                                                               float* __restrict__ parts, int rows, int columns, int depth) {
  const int first_row = blockIdx.y * TILE_M;
  const int first_column = blockIdx.x * TILE_N;
  // Whole steps in each part, so that rows of A begin where memory accesses do.
  const int steps = (depth + TILE_K - 1) / TILE_K;
  const int begin = (int)((long long)steps * blockIdx.z / PARTS) * TILE_K;
  const int end = min(depth, (int)((long long)steps * (blockIdx.z + 1) / PARTS) * TILE_K);
  float sums[ITEMS_M][ITEMS_N] = {};
  MultiplyTile(A + (long long)first_row * depth, depth, rows - first_row, B + first_column, columns, columns - first_column,
               begin, end, sums);
  float* out = parts + (long long)blockIdx.z * rows * columns;
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
#pragma unroll
  for (int m = 0; m < ITEMS_M; ++m) {
    const int row = first_row + thread_m + m * kThreadsM;
#pragma unroll
    for (int n = 0; n < ITEMS_N; ++n) {
      const int column = first_column + thread_n + n * kThreadsN;
      if (row < rows && column < columns) out[(long long)row * columns + column] = sums[m][n];
    }
  }
}

__global__ void __launch_bounds__(128) gemm_large_k_sum(const float* __restrict__ parts, float* __restrict__ C, long long count) {
  const long long element = (long long)blockIdx.x * 128 + threadIdx.x;
  if (element >= count) return;
  float sum = 0.0f;
#pragma unroll 8
  for (int part = 0; part < PARTS; ++part) sum += parts[part * count + element];
  C[element] = sum;
}
