// Attention on tensor cores. Scores and weights stay in the block, in registers and in a scratch area for each warp. A warp owns 16
// query rows and every KEY_GROUPS-th chunk of keys, with its own online softmax, and the key groups are combined at the end. Only the
// tiles need barriers of the block.
// evo:param BLOCK_M 16 32 64 128
// evo:param BLOCK_N 32 64 128 256 512
// evo:param WARPS 1 2 4 8 16
// evo:param CHUNK 16 32 64
// evo:param PAD 0 8 16
// evo:param SCORE_PAD 0 4 8
// evo:constraint WARPS % (BLOCK_M / 16) == 0
// evo:constraint BLOCK_N % (CHUNK * (WARPS / (BLOCK_M / 16))) == 0
// evo:constraint max((BLOCK_M + 2 * BLOCK_N) * (64 + PAD) * 2, WARPS * 4352) + WARPS * (64 * (CHUNK + SCORE_PAD) + 192) <= 232448
// evo:requires sm_80
// evo:launch attention_wmma(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK_M), H, B) block(32 * WARPS) \
//   shared(max((BLOCK_M + 2 * BLOCK_N) * (64 + PAD) * 2, WARPS * 4352) + WARPS * (64 * (CHUNK + SCORE_PAD) + 192))
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 32
#endif

// Keys of a tile in shared memory.
#ifndef BLOCK_N
#define BLOCK_N 64
#endif

#ifndef WARPS
#define WARPS 4
#endif

// Keys that a warp processes at a time.
#ifndef CHUNK
#define CHUNK 32
#endif

// Elements between the rows of a tile, against bank conflicts. wmma needs a multiple of 8.
#ifndef PAD
#define PAD 8
#endif

// The same for the scores; a multiple of 4.
#ifndef SCORE_PAD
#define SCORE_PAD 8
#endif

#define HEAD_DIM 64
#define THREADS (32 * WARPS)
#define KEY_GROUPS (WARPS / (BLOCK_M / 16))
#define STRIDE (HEAD_DIM + PAD)
#define SCORE_STRIDE (CHUNK + SCORE_PAD)
// Floats between the rows of a partial output; 4 more than the columns, against bank conflicts.
#define PARTIAL_STRIDE (HEAD_DIM + 4)
#define TILE_BYTES ((BLOCK_M + 2 * BLOCK_N) * STRIDE * 2)
#define PARTIAL_BYTES (WARPS * 16 * PARTIAL_STRIDE * 4)

// Elements that one access moves: 16 bytes.
constexpr int kVector = 8;
// Where the scratch of the warps begins. The partial outputs replace the tiles when these are no longer needed.
constexpr int kScratchBegin = TILE_BYTES > PARTIAL_BYTES ? TILE_BYTES : PARTIAL_BYTES;
// Floats in a warp's scratch: the scores of 16 rows, then three numbers for each row.
constexpr int kScratch = 16 * SCORE_STRIDE + 3 * 16;
// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;
constexpr float kLog2E = 1.44269504f;

using RowsOfA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major>;
using KeysAsColumns = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::col_major>;
using ValueRows = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// Copies rows of HEAD_DIM elements without going through registers, so that all copies of a thread run at the same time. The last valid row
// replaces the rows from `valid` on, whose results are masked or not stored. The copies are complete for the thread when it has waited for
// them, and for the block after a barrier.
__device__ __forceinline__ void LoadTile(half* tile, const half* from, unsigned rows, unsigned valid) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < rows * (HEAD_DIM / kVector); i += THREADS) {
    const unsigned row = i / (HEAD_DIM / kVector);
    const unsigned column = i % (HEAD_DIM / kVector) * kVector;
    __pipeline_memcpy_async(tile + row * STRIDE + column, from + min(row, valid - 1) * HEAD_DIM + column, 16);
  }
}

// The same for a tile of keys and a tile of values that follows it.
__device__ __forceinline__ void LoadTiles(half* tiles, const half* keys, const half* values, unsigned valid) {
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < BLOCK_N * (HEAD_DIM / kVector); i += THREADS) {
    const unsigned row = i / (HEAD_DIM / kVector);
    const unsigned column = i % (HEAD_DIM / kVector) * kVector;
    const unsigned from = min(row, valid - 1) * HEAD_DIM + column;
    half* to = tiles + row * STRIDE + column;
    __pipeline_memcpy_async(to, keys + from, 16);
    __pipeline_memcpy_async(to + BLOCK_N * STRIDE, values + from, 16);
  }
}

// Scores of 16 query rows against CHUNK keys, into the warp's scratch.
__device__ __forceinline__ void ComputeScores(const RowsOfA* query, const half* keys, float* scores) {
#pragma unroll
  for (int n = 0; n < CHUNK; n += 16) {
    Sums sums;
    nvcuda::wmma::fill_fragment(sums, 0.0f);
#pragma unroll
    for (int k = 0; k < HEAD_DIM / 16; ++k) {
      KeysAsColumns key;
      nvcuda::wmma::load_matrix_sync(key, keys + n * STRIDE + k * 16, STRIDE);
      nvcuda::wmma::mma_sync(sums, query[k], key, sums);
    }
    nvcuda::wmma::store_matrix_sync(scores + n, sums, SCORE_STRIDE, nvcuda::wmma::mem_row_major);
  }
}

// Turns the scores in the scratch into fp16 weights, which replace them. Two lanes share a row; `largest` and `weights` are the row's
// state, the latter over this lane's keys. Returns the factor that the previous sums must be multiplied with.
__device__ __forceinline__ float ScoresToWeights(float* scores, float scale, int valid, float& largest, float& weights) {
  const int lane = threadIdx.x % 32;
  const int first = lane % 2 * 4;
  float* row = scores + lane / 2 * SCORE_STRIDE;
  float values[CHUNK / 2];
  float next = largest;
#pragma unroll
  for (int k = 0; k < CHUNK / 8; ++k) {
    const float4 four = *reinterpret_cast<const float4*>(row + k * 8 + first);
    values[k * 4] = four.x;
    values[k * 4 + 1] = four.y;
    values[k * 4 + 2] = four.z;
    values[k * 4 + 3] = four.w;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      // Keys past the end do not count for the maximum, and their weight is zero.
      values[k * 4 + e] = k * 8 + e < valid - first ? values[k * 4 + e] * scale : kLowest;
      next = fmaxf(next, values[k * 4 + e]);
    }
  }
  next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
  const float fade = exp2f(largest - next);
  largest = next;
  weights *= fade;
  __syncwarp();   // every score is read before the first weight overwrites it
  half* weight_row = reinterpret_cast<half*>(row);
#pragma unroll
  for (int k = 0; k < CHUNK / 8; ++k) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const float a = exp2f(values[k * 4 + e] - next);
      const float b = exp2f(values[k * 4 + e + 1] - next);
      weights += a + b;
      *reinterpret_cast<half2*>(weight_row + k * 8 + first + e) = __floats2half2_rn(a, b);
    }
  }
  return fade;
}

// Adds weights times values to the 16 x HEAD_DIM sums.
__device__ __forceinline__ void AddValues(const half* weights, const half* values, Sums* sums) {
#pragma unroll
  for (int k = 0; k < CHUNK; k += 16) {
    RowsOfA weight;
    nvcuda::wmma::load_matrix_sync(weight, weights + k, 2 * SCORE_STRIDE);
#pragma unroll
    for (int c = 0; c < HEAD_DIM / 16; ++c) {
      ValueRows value;
      nvcuda::wmma::load_matrix_sync(value, values + k * STRIDE + c * 16, STRIDE);
      nvcuda::wmma::mma_sync(sums[c], weight, value, sums[c]);
    }
  }
}

// Combines the key groups and writes the block's rows.
__device__ __forceinline__ void CombineAndStore(const float* partials, const float* scratch, half* out, unsigned valid) {
  const unsigned rows = valid < BLOCK_M ? valid : BLOCK_M;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < rows * (HEAD_DIM / 4); i += THREADS) {
    const unsigned row = i / (HEAD_DIM / 4);
    const unsigned column = i % (HEAD_DIM / 4) * 4;
    const unsigned warp = row / 16 * KEY_GROUPS;
    const float* state = scratch + warp * kScratch + 16 * SCORE_STRIDE + row % 16;   // fade, largest, weights: 16 of each
    const float* partial = partials + (warp * 16 + row % 16) * PARTIAL_STRIDE + column;
    float largest = kLowest;
#pragma unroll 1
    for (int g = 0; g < KEY_GROUPS; ++g) largest = fmaxf(largest, state[g * kScratch + 16]);
    float weights = 0.0f;
    float4 sums = {};
#pragma unroll 1
    for (int g = 0; g < KEY_GROUPS; ++g) {
      const float share = exp2f(state[g * kScratch + 16] - largest);
      const float4 part = *reinterpret_cast<const float4*>(partial + g * 16 * PARTIAL_STRIDE);
      weights += share * state[g * kScratch + 32];
      sums.x += share * part.x;
      sums.y += share * part.y;
      sums.z += share * part.z;
      sums.w += share * part.w;
    }
    const float inverse = __fdividef(1.0f, weights);
    half2* to = reinterpret_cast<half2*>(out + row * HEAD_DIM + column);
    to[0] = __floats2half2_rn(sums.x * inverse, sums.y * inverse);
    to[1] = __floats2half2_rn(sums.z * inverse, sums.w * inverse);
  }
}

__global__ void __launch_bounds__(THREADS, 1) attention_wmma(const half* __restrict__ Q, const half* __restrict__ K,
                                                             const half* __restrict__ V, half* __restrict__ O, float scale,
                                                             int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  extern __shared__ uint4 shared_memory[];
  half* query_tile = reinterpret_cast<half*>(shared_memory);
  half* key_tile = query_tile + BLOCK_M * STRIDE;
  half* value_tile = key_tile + BLOCK_N * STRIDE;
  float* partials = reinterpret_cast<float*>(shared_memory);
  float* all_scratch = partials + kScratchBegin / 4;

  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int group = warp % KEY_GROUPS;
  const int first_row = blockIdx.x * BLOCK_M;
  const int head = (blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  float* scores = all_scratch + warp * kScratch;
  float* fades = scores + 16 * SCORE_STRIDE;

  LoadTile(query_tile, Q + head + first_row * HEAD_DIM, BLOCK_M, length - first_row);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  RowsOfA query[HEAD_DIM / 16];
  Sums sums[HEAD_DIM / 16];
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) {
    nvcuda::wmma::load_matrix_sync(query[k], query_tile + warp / KEY_GROUPS * 16 * STRIDE + k * 16, STRIDE);
    nvcuda::wmma::fill_fragment(sums[k], 0.0f);
  }

  float largest = kLowest;
  float weights = 0.0f;
  for (int first = 0; first < length; first += BLOCK_N) {
    __syncthreads();   // no thread reads the tiles of the previous round any more
    LoadTiles(key_tile, K + head + first * HEAD_DIM, V + head + first * HEAD_DIM, length - first);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int key = group * CHUNK; key < BLOCK_N && first + key < length; key += KEY_GROUPS * CHUNK) {
      ComputeScores(query, key_tile + key * STRIDE, scores);
      __syncwarp();
      const float fade = ScoresToWeights(scores, scale * kLog2E, length - first - key, largest, weights);
      fades[lane / 2] = fade;   // both lanes of a row write the same
      __syncwarp();   // every factor is written before they are loaded
      // The row of an accumulator's element is not specified, so the factors are loaded like a matrix with equal columns.
      Sums fade_of;
      nvcuda::wmma::load_matrix_sync(fade_of, fades, 0, nvcuda::wmma::mem_col_major);
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 16; ++c) {
#pragma unroll
        for (int i = 0; i < fade_of.num_elements; ++i) sums[c].x[i] *= fade_of.x[i];
      }
      AddValues(reinterpret_cast<const half*>(scores), value_tile + key * STRIDE, sums);
      __syncwarp();   // all weights are read before the next scores overwrite them
    }
  }

  __syncthreads();   // the partial outputs replace the tiles
#pragma unroll
  for (int c = 0; c < HEAD_DIM / 16; ++c) {
    nvcuda::wmma::store_matrix_sync(partials + warp * 16 * PARTIAL_STRIDE + c * 16, sums[c], PARTIAL_STRIDE,
                                    nvcuda::wmma::mem_row_major);
  }
  weights += __shfl_xor_sync(0xffffffffu, weights, 1);
  if (lane % 2 == 0) {
    fades[16 + lane / 2] = largest;
    fades[32 + lane / 2] = weights;
  }
  __syncthreads();
  CombineAndStore(partials, all_scratch, O + head + first_row * HEAD_DIM, length - first_row);
}
