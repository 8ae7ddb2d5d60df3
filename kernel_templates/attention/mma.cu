// Attention fused over tiles of keys by mma.sync, in the manner of FlashAttention-2. A block has BLOCK_M query rows and goes through the
// keys in tiles of BLOCK_N, which cp.async copies into a ring of STAGES. Scores, weights and sums stay in registers, where the weights
// are the left factor of the second product. Causal blocks stop at their diagonal, and the longest blocks start first.
// evo:param BLOCK_M 32 64 128 256
// evo:param BLOCK_N 16 32 64 128
// evo:param WARP_ROWS 16 32
// evo:param STAGES 2 3 4
// evo:param QUERY_IN_REGISTERS 0 1
// evo:param MIN_BLOCKS 1 2 3
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:param BF16 0
// evo:param KV_GROUP 1
// evo:constraint BLOCK_M % WARP_ROWS == 0 && BLOCK_M / WARP_ROWS <= 16
// evo:constraint BLOCK_N * HEAD_DIM / 8 % (BLOCK_M / WARP_ROWS * 32) == 0
// evo:constraint MIN_BLOCKS * (BLOCK_M / WARP_ROWS) <= 16
// evo:constraint MIN_BLOCKS * (STAGES * BLOCK_N * 4 * HEAD_DIM + (1 - QUERY_IN_REGISTERS) * BLOCK_M * 2 * HEAD_DIM + 1024) \
//   <= 233472
// evo:requires sm_80
// evo:launch attention_mma(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK_M), H, B) block(BLOCK_M / WARP_ROWS * 32) \
//   shared(STAGES * BLOCK_N * 4 * HEAD_DIM + (1 - QUERY_IN_REGISTERS) * BLOCK_M * 2 * HEAD_DIM)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 128
#endif

// Keys of a tile.
#ifndef BLOCK_N
#define BLOCK_N 64
#endif

// Query rows of a warp.
#ifndef WARP_ROWS
#define WARP_ROWS 32
#endif

// Tiles in shared memory or being copied.
#ifndef STAGES
#define STAGES 2
#endif

// Whether a warp holds its query rows in registers, instead of reading them again for every tile.
#ifndef QUERY_IN_REGISTERS
#define QUERY_IN_REGISTERS 1
#endif

// Blocks that must fit on a multiprocessor, which bounds the registers.
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 2
#endif

// Whether row i sees the keys 0 to i only.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row. The kernel returns at once if the task has another size.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

// Whether elements are __nv_bfloat16 instead of half.
#ifndef BF16
#define BF16 0
#endif

// Query heads that share a head of keys and values.
#ifndef KV_GROUP
#define KV_GROUP 1
#endif

#define THREADS (BLOCK_M / WARP_ROWS * 32)

#include "mma_parts.cuh"

constexpr int kTileElements = BLOCK_N * HEAD_DIM;

using Scores = float[kTiles][BLOCK_N / 8][4];

// Starts copying `rows` rows of a head from `first` on; those from `length` on become zero.
template <int rows>
__device__ __forceinline__ void CopyRows(unsigned to, const Element* head, int first, int length) {
  constexpr int kStep = THREADS / kVectors;   // rows that the block copies at a time
  const int vector = threadIdx.x % kVectors;
  first += threadIdx.x / kVectors;
  const Element* from = head + first * HEAD_DIM + vector * kVector;
#pragma unroll
  for (int i = 0; i < rows / kStep; ++i) {
    const int row = threadIdx.x / kVectors + i * kStep;
    const bool valid = first + i * kStep < length;
    // No address past the end is formed, since tools that check memory accesses take it for a read.
    CopyAsync(to + (row * HEAD_DIM + Swizzle(row, vector) * kVector) * 2, valid ? from + i * kStep * HEAD_DIM : head, valid);
  }
}

// The keys, then the values of a tile.
__device__ __forceinline__ void CopyTile(unsigned to, const Element* K, const Element* V, int first, int length) {
  CopyRows<BLOCK_N>(to, K, first, length);
  CopyRows<BLOCK_N>(to + kTileElements * 2, V, first, length);
}

// One vector of each of the warp's rows, from their copy in shared memory.
__device__ __forceinline__ void LoadQueryVectors(const Element* queries, int c, Query& query) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Element* row = queries + (m * 16 + r * 8 + lane / 4) * HEAD_DIM;
      query[m][r][c] = *reinterpret_cast<const uint4*>(row + Swizzle(lane / 4, lane % 4 + 4 * c) * kVector);
    }
  }
}

// Scores of the warp's rows against the keys of a tile, not yet scaled.
__device__ __forceinline__ void ComputeScores(Query& query, const Element* keys, const Element* queries, Scores& scores) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 32; ++c) {
    if (!QUERY_IN_REGISTERS) LoadQueryVectors(queries, c, query);
    const Element* column = keys + lane / 4 * HEAD_DIM + Swizzle(lane / 4, lane % 4 + 4 * c) * kVector;
#pragma unroll
    for (int n = 0; n < BLOCK_N / 8; ++n) {
      const uint4 key = *reinterpret_cast<const uint4*>(column + n * 8 * HEAD_DIM);
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        const uint4& upper = query[m][0][c];
        const uint4& lower = query[m][1][c];
        MultiplyAdd(scores[m][n], upper.x, lower.x, upper.y, lower.y, key.x, key.y);
        MultiplyAdd(scores[m][n], upper.z, lower.z, upper.w, lower.w, key.z, key.w);
      }
    }
  }
}

// Turns scores into weights relative to the row's largest score so far, and shrinks the sums that were relative to a smaller one.
// A row is spread over four lanes: `largest` is the row's, `weights` sums this lane's keys. `factor` is positive.
__device__ __forceinline__ void ScoresToWeights(Scores& scores, float factor, RowState& largest, RowState& weights, Sums& sums) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float next = largest[m][r];
#pragma unroll
      for (int n = 0; n < BLOCK_N / 8; ++n) next = fmaxf(next, fmaxf(scores[m][n][2 * r], scores[m][n][2 * r + 1]));
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 2));
      const float fade = Exp2((largest[m][r] - next) * factor);
      largest[m][r] = next;
      const float shift = next * factor;
      float sum = weights[m][r] * fade;
#pragma unroll
      for (int n = 0; n < BLOCK_N / 8; ++n) {
        scores[m][n][2 * r] = Exp2(scores[m][n][2 * r] * factor - shift);
        scores[m][n][2 * r + 1] = Exp2(scores[m][n][2 * r + 1] * factor - shift);
        sum += scores[m][n][2 * r] + scores[m][n][2 * r + 1];
      }
      weights[m][r] = sum;
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 8; ++d) {
        sums[m][d][2 * r] *= fade;
        sums[m][d][2 * r + 1] *= fade;
      }
    }
  }
}

// Adds weights times values; `values` is an address in shared memory.
__device__ __forceinline__ void AddValues(const Scores& weights, unsigned values, Sums& sums) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < BLOCK_N / 16; ++k) {
    unsigned left[kTiles][4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float (&pair)[4] = weights[m][2 * k + e / 2];
        left[m][e] = Pack(pair[e % 2 * 2], pair[e % 2 * 2 + 1]);
      }
    }
    const unsigned row = values + (k * 16 + lane % 16) * HEAD_DIM * 2;
#pragma unroll
    for (int d = 0; d < HEAD_DIM / 16; ++d) {
      unsigned value[4];
      LoadTransposed(row + Swizzle(lane % 8, 2 * d + lane / 16) * kVector * 2, value);
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        MultiplyAdd(sums[m][2 * d], left[m][0], left[m][1], left[m][2], left[m][3], value[0], value[1]);
        MultiplyAdd(sums[m][2 * d + 1], left[m][0], left[m][1], left[m][2], left[m][3], value[2], value[3]);
      }
    }
  }
}

// Writes 32 columns of a row that four lanes hold in pairs of columns: they exchange pairs until each has 16 bytes.
__device__ __forceinline__ void StoreColumns(Element* row, unsigned (&pairs)[4], bool valid) {
  const int member = threadIdx.x % 4;
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    const bool upper = member & step;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & step) continue;
      const unsigned other = __shfl_xor_sync(0xffffffffu, upper ? pairs[i] : pairs[i + step], step);
      if (upper) {
        pairs[i] = other;
      } else {
        pairs[i + step] = other;
      }
    }
  }
  if (valid) *reinterpret_cast<uint4*>(row + member * kVector) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

// Divides by the rows' weights and writes the warp's rows from `first_row` on.
__device__ __forceinline__ void StoreRows(Element* head, int first_row, int length, const RowState& weights, const Sums& sums) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + m * 16 + r * 8 + threadIdx.x % 32 / 4;
      float weight = weights[m][r];
      weight += __shfl_xor_sync(0xffffffffu, weight, 1);
      weight += __shfl_xor_sync(0xffffffffu, weight, 2);
      const float inverse = __fdividef(1.0f, weight);
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 32; ++d) {
        unsigned pairs[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) pairs[i] = Pack(sums[m][d * 4 + i][2 * r] * inverse, sums[m][d * 4 + i][2 * r + 1] * inverse);
        StoreColumns(head + row * HEAD_DIM + d * 32, pairs, row < length);
      }
    }
  }
}

__global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    attention_mma(const Element* __restrict__ Q, const Element* __restrict__ K, const Element* __restrict__ V,
                  Element* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  extern __shared__ uint4 shared_memory[];
  const int block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_M;
  const int warp_row = threadIdx.x / 32 * WARP_ROWS;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  const long long key_head = (long long)((blockIdx.z * gridDim.y + blockIdx.y) / KV_GROUP) * length * HEAD_DIM;
  Element* ring = reinterpret_cast<Element*>(shared_memory);
  const unsigned ring_address = static_cast<unsigned>(__cvta_generic_to_shared(ring));
  Element* queries = ring + STAGES * 2 * kTileElements;                 // if not in registers
  const int end = CAUSAL ? min(length, block_row + BLOCK_M) : length;   // keys that some row of the block sees

  if (!QUERY_IN_REGISTERS) CopyRows<BLOCK_M>(ring_address + STAGES * 2 * kTileElements * 2, Q + head, block_row, length);
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (i * BLOCK_N < end) CopyTile(ring_address + i * 2 * kTileElements * 2, K + key_head, V + key_head, i * BLOCK_N, length);
    CommitCopies();
  }
  Query query;
  if (QUERY_IN_REGISTERS) LoadQuery(Q + head, block_row + warp_row, length, query);
  Sums sums = {};
  RowState largest;
  RowState weights = {};
#pragma unroll
  for (int m = 0; m < kTiles; ++m) largest[m][0] = largest[m][1] = kLowest;
  const float factor = scale * kLog2E;

  int stage = 0;
  for (int first = 0; first < end; first += BLOCK_N) {
    WaitForCopies<STAGES - 2>();
    __syncthreads();   // the tile is complete, and no thread reads the previous one any more, whose stage is filled next
    const int later = first + (STAGES - 1) * BLOCK_N;
    const int free_stage = stage == 0 ? STAGES - 1 : stage - 1;
    if (later < end) CopyTile(ring_address + free_stage * 2 * kTileElements * 2, K + key_head, V + key_head, later, length);
    CommitCopies();   // also if it is empty, because groups of copies are counted

    Scores scores = {};
    ComputeScores(query, ring + stage * 2 * kTileElements, queries + warp_row * HEAD_DIM, scores);
    const int seen_by_all = CAUSAL ? min(length, block_row + warp_row + 1) : length;
    if (first + BLOCK_N > seen_by_all) MaskScores(scores, first, block_row + warp_row, length);
    ScoresToWeights(scores, factor, largest, weights, sums);
    AddValues(scores, ring_address + (stage * 2 + 1) * kTileElements * 2, sums);
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }
  StoreRows(O + head, block_row + warp_row, length, weights, sums);
}
