// A linear layer and GELU for Hopper: warp-group products of tiles that the copy engine brings, by blocks that stay. One warp
// group starts the copies; two others have half of a tile's rows each and keep their sums in registers. Bias and GELU are applied
// to the sums before they are rounded. While a tile is stored, the copies of the next one go on. Rows that are no multiple of 16
// bytes, of which there is no tensor map, are copied to longer ones first.
// evo:param BLOCK_M 128 256
// evo:param BLOCK_N 128 192 256
// evo:param BLOCK_K 64 128
// evo:param STAGES 2 3 4 5 6
// evo:param CLUSTER 1 2
// evo:param GROUP 4 8 16 32
// evo:param RESIDENT 132 1000000
// evo:param BF16 1
// evo:constraint BLOCK_M * BLOCK_N <= 32768
// evo:constraint 17664 + STAGES * (BLOCK_M + BLOCK_N) * BLOCK_K * 2 <= 232448
// evo:requires sm_90a
// evo:workspace X_padded u16 [K % 8 ? M : 1, ceil_div(K, 8) * 8]
// evo:workspace W_padded u16 [K % 8 ? N : 1, ceil_div(K, 8) * 8]
// evo:tensormap X_map = X dims(K, M) box(64, BLOCK_N >= BLOCK_M ? BLOCK_M : BLOCK_M / CLUSTER) swizzle(128)
// evo:tensormap W_map = W dims(K, N) box(64, BLOCK_N >= BLOCK_M ? BLOCK_N / CLUSTER : BLOCK_N) swizzle(128)
// evo:tensormap X_padded_map = X_padded dims(ceil_div(K, 8) * 8, M) \
//   box(64, BLOCK_N >= BLOCK_M ? BLOCK_M : BLOCK_M / CLUSTER) swizzle(128)
// evo:tensormap W_padded_map = W_padded dims(ceil_div(K, 8) * 8, N) \
//   box(64, BLOCK_N >= BLOCK_M ? BLOCK_N / CLUSTER : BLOCK_N) swizzle(128)
// evo:launch pad_rows(X, X_padded, M, K, ceil_div(K, 8) * 8) grid(ceil_div(K, 256), min(M, 65535)) block(256) when(K % 8)
// evo:launch pad_rows(W, W_padded, N, K, ceil_div(K, 8) * 8) grid(ceil_div(K, 256), min(N, 65535)) block(256) when(K % 8)
// evo:launch linear_gelu_wgmma(X_map, W_map, bias, Y, M, N, K) \
//   grid(CLUSTER * min(ceil_div(M, BLOCK_M * (BLOCK_N >= BLOCK_M ? CLUSTER : 1)) \
//     * ceil_div(N, BLOCK_N * (BLOCK_N >= BLOCK_M ? 1 : CLUSTER)), RESIDENT / CLUSTER)) \
//   block(384) cluster(CLUSTER) shared(17664 + STAGES * (BLOCK_M + BLOCK_N) * BLOCK_K * 2) when(K % 8 == 0)
// evo:launch linear_gelu_wgmma(X_padded_map, W_padded_map, bias, Y, M, N, K) \
//   grid(CLUSTER * min(ceil_div(M, BLOCK_M * (BLOCK_N >= BLOCK_M ? CLUSTER : 1)) \
//     * ceil_div(N, BLOCK_N * (BLOCK_N >= BLOCK_M ? 1 : CLUSTER)), RESIDENT / CLUSTER)) \
//   block(384) cluster(CLUSTER) shared(17664 + STAGES * (BLOCK_M + BLOCK_N) * BLOCK_K * 2) when(K % 8)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Rows and columns of Y that a block computes at a time, and the depth of a step.
#ifndef BLOCK_M
#define BLOCK_M 128
#endif

#ifndef BLOCK_N
#define BLOCK_N 256
#endif

#ifndef BLOCK_K
#define BLOCK_K 64
#endif

// Steps in shared memory or being copied.
#ifndef STAGES
#define STAGES 4
#endif

// Blocks that bring the larger operand's part together.
#ifndef CLUSTER
#define CLUSTER 1
#endif

// Rows of tiles, or of a cluster's tiles, that follow one another before the next column.
#ifndef GROUP
#define GROUP 16
#endif

// The largest number of blocks; each computes one tile after another. An H100 or H200 has 132 multiprocessors; with a million
// every block has one tile.
#ifndef RESIDENT
#define RESIDENT 132
#endif

// Whether elements are __nv_bfloat16 instead of half.
#ifndef BF16
#define BF16 1
#endif

#define LINEAR 1

#include "../gemm_fp16/wgmma_tiles.cuh"

__global__ void __launch_bounds__(kThreads, 1)
    linear_gelu_wgmma(const __grid_constant__ TensorMap X_map, const __grid_constant__ TensorMap W_map,
                      const Element* __restrict__ bias, Element* __restrict__ Y, int rows, int columns, int depth) {
  ComputeTiles(&X_map, &W_map, bias, Y, rows, columns, depth);
}
