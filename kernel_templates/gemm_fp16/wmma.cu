// Matrix product on tensor cores: a block computes TILE_M x TILE_N elements of C, shared out to WARPS_M x WARPS_N warps. Tiles of
// A and B come by asynchronous copies into a ring of STAGES. Blocks that run at a time share rows and columns, which then stay in
// L2.
// evo:param TILE_M 32 64 128 256
// evo:param TILE_N 32 64 128 256
// evo:param TILE_K 16 32 64
// evo:param WARPS_M 1 2 4
// evo:param WARPS_N 1 2 4
// evo:param STAGES 2 3 4
// evo:param GROUP 1 4 8 16
// evo:param BF16 0
// evo:constraint TILE_M % (WARPS_M * 16) == 0 && TILE_N % (WARPS_N * 16) == 0 && WARPS_M * WARPS_N >= 2
// evo:constraint (TILE_M / WARPS_M) * (TILE_N / WARPS_N) >= 512 && (TILE_M / WARPS_M) * (TILE_N / WARPS_N) <= 4096
// evo:constraint STAGES * (TILE_M * (TILE_K + 8) + TILE_K * (TILE_N + 8)) * 2 <= 232448
// evo:launch gemm_wmma(A, B, C, M, N, K) grid(ceil_div(M, TILE_M) * ceil_div(N, TILE_N)) block(WARPS_M * WARPS_N * 32) \
//   shared(max(STAGES * (TILE_M * (TILE_K + 8) + TILE_K * (TILE_N + 8)) * 2, WARPS_M * WARPS_N * 1280))
// evo:requires sm_80
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// Rows and columns of C that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 128
#endif

#ifndef TILE_N
#define TILE_N 128
#endif

#ifndef TILE_K
#define TILE_K 32
#endif

// Warps of a block along rows and columns.
#ifndef WARPS_M
#define WARPS_M 2
#endif

#ifndef WARPS_N
#define WARPS_N 2
#endif

// Tiles in shared memory or being copied.
#ifndef STAGES
#define STAGES 3
#endif

// Rows of blocks that follow one another before the next column of blocks.
#ifndef GROUP
#define GROUP 8
#endif

// Whether elements are __nv_bfloat16 instead of half.
#ifndef BF16
#define BF16 0
#endif

#define LINEAR 0

#include "wmma_tiles.cuh"

__global__ void __launch_bounds__(kThreads) gemm_wmma(const Element* __restrict__ A, const Element* __restrict__ B,
                                                      Element* __restrict__ C, int rows, int columns, int depth) {
  ComputeTile(A, B, nullptr, C, rows, columns, depth);
}
