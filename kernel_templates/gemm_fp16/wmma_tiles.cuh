// Shared by the WMMA templates of matrix products, which define what stands in capitals here. If LINEAR, B has a row for each
// column of C, as the weights of a layer have, and C is GELU of the sums and a bias.
#pragma once

#if BF16
using Element = __nv_bfloat16;
#else
using Element = half;
#endif

constexpr int kThreads = WARPS_M * WARPS_N * 32;
constexpr int kRows = TILE_M / WARPS_M;   // of a warp
constexpr int kColumns = TILE_N / WARPS_N;
// Rows in shared memory are further apart than their lengths, against bank conflicts.
constexpr int kStrideA = TILE_K + 8;
constexpr int kStrideB = (LINEAR ? TILE_K : TILE_N) + 8;
constexpr int kStrideC = 20;   // floats, of a warp's part of the results
constexpr int kTileA = TILE_M * kStrideA;
constexpr int kStage = kTileA + (LINEAR ? TILE_N : TILE_K) * kStrideB;

#if LINEAR
using RightOrder = nvcuda::wmma::col_major;
#else
using RightOrder = nvcuda::wmma::row_major;
#endif

using Right = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, Element, RightOrder>;
using Left = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, Element, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

__device__ __forceinline__ Element FromFloat(float x) {
#if BF16
  return __float2bfloat16(x);
#else
  return __float2half(x);
#endif
}

__device__ __forceinline__ float ToFloat(Element x) {
#if BF16
  return __bfloat162float(x);
#else
  return __half2float(x);
#endif
}

__device__ __forceinline__ float Gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

// Starts copying a tile of a matrix of rows x columns; zeros outside of it. `vectors`: columns are a multiple of 8.
template <int tile_rows, int tile_columns, int stride>
__device__ __forceinline__ void CopyTile(Element* tile, const Element* matrix, int first_row, int first_column, int rows,
                                         int columns, bool vectors) {
  if (vectors) {
#pragma unroll
    for (int i = threadIdx.x; i < tile_rows * tile_columns / 8; i += kThreads) {
      const int row = i / (tile_columns / 8);
      const int column = i % (tile_columns / 8) * 8;
      const bool inside = first_row + row < rows && first_column + column < columns;
      const Element* from = inside ? matrix + (long long)(first_row + row) * columns + first_column + column : matrix;
      __pipeline_memcpy_async(tile + row * stride + column, from, 16, inside ? 0 : 16);
    }
  } else {
#pragma unroll 4
    for (int i = threadIdx.x; i < tile_rows * tile_columns; i += kThreads) {
      const int row = i / tile_columns;
      const int column = i % tile_columns;
      const bool inside = first_row + row < rows && first_column + column < columns;
      tile[row * stride + column] =
          inside ? matrix[(long long)(first_row + row) * columns + first_column + column] : FromFloat(0.0f);
    }
  }
}

// Row and column of a block among the blocks: GROUP rows of blocks, column by column.
__device__ __forceinline__ int2 BlockPlace(int rows, int columns) {
  const int blocks_m = (rows + TILE_M - 1) / TILE_M;
  const int blocks_n = (columns + TILE_N - 1) / TILE_N;
  const int group = blockIdx.x / (GROUP * blocks_n);
  const int height = min(GROUP, blocks_m - group * GROUP);
  const int within = blockIdx.x % (GROUP * blocks_n);
  return make_int2(group * GROUP + within % height, within / height);
}

// The block's tile of C. `bias` is read if LINEAR.
__device__ __forceinline__ void ComputeTile(const Element* A, const Element* B, const Element* bias, Element* C, int rows,
                                            int columns, int depth) {
  extern __shared__ uint4 shared_memory[];
  Element* ring = reinterpret_cast<Element*>(shared_memory);
  const int2 place = BlockPlace(rows, columns);
  const int first_row = place.x * TILE_M;
  const int first_column = place.y * TILE_N;
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / WARPS_N * kRows;
  const int warp_column = warp % WARPS_N * kColumns;
  const bool vectors_a = depth % 8 == 0;
  const bool vectors_b = (LINEAR ? depth : columns) % 8 == 0;
  const bool vectors_c = columns % 8 == 0;
  const int steps = (depth + TILE_K - 1) / TILE_K;

  Sums sums[kRows / 16][kColumns / 16];
#pragma unroll
  for (int m = 0; m < kRows / 16; ++m) {
#pragma unroll
    for (int n = 0; n < kColumns / 16; ++n) nvcuda::wmma::fill_fragment(sums[m][n], 0.0f);
  }
#pragma unroll 1
  for (int step = 1 - STAGES; step < steps; ++step) {
    if (step >= 0) {
      __pipeline_wait_prior(STAGES - 2);
      __syncthreads();   // the tiles are complete, and no thread reads the previous ones any more, whose stage is filled next
    }
    const int coming = step + STAGES - 1;
    if (coming < steps) {
      Element* stage = ring + coming % STAGES * kStage;
      CopyTile<TILE_M, TILE_K, kStrideA>(stage, A, first_row, coming * TILE_K, rows, depth, vectors_a);
      if constexpr (LINEAR) {
        CopyTile<TILE_N, TILE_K, kStrideB>(stage + kTileA, B, first_column, coming * TILE_K, columns, depth, vectors_b);
      } else {
        CopyTile<TILE_K, TILE_N, kStrideB>(stage + kTileA, B, coming * TILE_K, first_column, depth, columns, vectors_b);
      }
    }
    __pipeline_commit();   // also if it is empty, because groups of copies are counted
    if (step < 0) continue;
    const Element* a = ring + step % STAGES * kStage + warp_row * kStrideA;
    const Element* b = ring + step % STAGES * kStage + kTileA + (LINEAR ? warp_column * kStrideB : warp_column);
#pragma unroll
    for (int k = 0; k < TILE_K; k += 16) {
      Left left[kRows / 16];
#pragma unroll
      for (int m = 0; m < kRows / 16; ++m) nvcuda::wmma::load_matrix_sync(left[m], a + m * 16 * kStrideA + k, kStrideA);
#pragma unroll
      for (int n = 0; n < kColumns / 16; ++n) {
        Right right;
        nvcuda::wmma::load_matrix_sync(right, b + (LINEAR ? n * 16 * kStrideB + k : k * kStrideB + n * 16), kStrideB);
#pragma unroll
        for (int m = 0; m < kRows / 16; ++m) nvcuda::wmma::mma_sync(sums[m][n], left[m], right, sums[m][n]);
      }
    }
  }

  __syncthreads();   // the results replace the tiles
  float* part = reinterpret_cast<float*>(shared_memory) + warp * 16 * kStrideC;
  const int row_of_part = threadIdx.x % 32 / 2;
  const int column_of_part = threadIdx.x % 2 * 8;
#pragma unroll
  for (int m = 0; m < kRows / 16; ++m) {
#pragma unroll
    for (int n = 0; n < kColumns / 16; ++n) {
      nvcuda::wmma::store_matrix_sync(part, sums[m][n], kStrideC, nvcuda::wmma::mem_row_major);
      __syncwarp();
      const int row = first_row + warp_row + m * 16 + row_of_part;
      const int column = first_column + warp_column + n * 16 + column_of_part;
      alignas(16) Element values[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float sum = part[row_of_part * kStrideC + column_of_part + i];
        values[i] = FromFloat(LINEAR ? Gelu(sum + ToFloat(bias[min(column + i, columns - 1)])) : sum);
      }
      Element* to = C + (long long)row * columns + column;
      if (row < rows && vectors_c && column < columns) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(values);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (row < rows && !vectors_c && column + i < columns) to[i] = values[i];
      }
      __syncwarp();   // all lanes are done with the part before the next one replaces it
    }
  }
}
