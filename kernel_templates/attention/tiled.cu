// Attention by tiles: K and V pass through shared memory, and the softmax is online. ROW_THREADS threads share a query row.
// evo:param BLOCK_M 8 16 32 64 128
// evo:param BLOCK_N 16 32 64 128
// evo:param ROW_THREADS 1 2 4 8 16 32
// evo:param PAD 0 8 16
// evo:param UNROLL 1 2 4 8 16
// evo:constraint BLOCK_M * ROW_THREADS % 32 == 0 && BLOCK_M * ROW_THREADS <= 1024
// evo:constraint BLOCK_N % ROW_THREADS == 0
// evo:constraint (BLOCK_M + 2 * BLOCK_N) * (64 + PAD) * 2 + BLOCK_M * (BLOCK_N + 1) * 4 <= 232448
// evo:launch attention_tiled(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK_M), H, B) block(BLOCK_M * ROW_THREADS) \
//   shared((BLOCK_M + 2 * BLOCK_N) * (64 + PAD) * 2 + BLOCK_M * (BLOCK_N + 1) * 4)
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 32
#endif

// Keys of a tile.
#ifndef BLOCK_N
#define BLOCK_N 32
#endif

// Threads that share a query row and belong to one warp: they divide the keys of a tile, then the columns of the output.
#ifndef ROW_THREADS
#define ROW_THREADS 4
#endif

// Elements between the rows of a tile, against bank conflicts. A multiple of 8 keeps rows 16-byte aligned.
#ifndef PAD
#define PAD 8
#endif

// How often the loop of the dot product is unrolled.
#ifndef UNROLL
#define UNROLL 4
#endif

#define HEAD_DIM 64
#define THREADS (BLOCK_M * ROW_THREADS)
#define STRIDE (HEAD_DIM + PAD)
#define WEIGHT_STRIDE (BLOCK_N + 1)

// Elements that one access moves: 16 bytes.
constexpr int kVector = 8;
// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

// Copies rows of HEAD_DIM elements; rows from `valid` on become zero.
__device__ void LoadTile(half* tile, const half* from, int rows, int valid) {
  for (int i = threadIdx.x; i < rows * (HEAD_DIM / kVector); i += THREADS) {
    const int row = i / (HEAD_DIM / kVector);
    const int column = i % (HEAD_DIM / kVector) * kVector;
    uint4 value = make_uint4(0, 0, 0, 0);
    if (row < valid) value = *reinterpret_cast<const uint4*>(from + row * HEAD_DIM + column);
    *reinterpret_cast<uint4*>(tile + row * STRIDE + column) = value;
  }
}

__global__ void __launch_bounds__(THREADS) attention_tiled(const half* __restrict__ Q, const half* __restrict__ K,
                                                           const half* __restrict__ V, half* __restrict__ O, float scale,
                                                           int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  extern __shared__ uint4 shared_memory[];
  half* query_tile = reinterpret_cast<half*>(shared_memory);
  half* key_tile = query_tile + BLOCK_M * STRIDE;
  half* value_tile = key_tile + BLOCK_N * STRIDE;
  float* weight_tile = reinterpret_cast<float*>(value_tile + BLOCK_N * STRIDE);

  const int first_row = blockIdx.x * BLOCK_M;
  const int row = threadIdx.x / ROW_THREADS;
  const int part = threadIdx.x % ROW_THREADS;
  const int head = (blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  const half* query = query_tile + row * STRIDE;
  float* row_weights = weight_tile + row * WEIGHT_STRIDE;

  LoadTile(query_tile, Q + head + first_row * HEAD_DIM, BLOCK_M, length - first_row);
  float sums[HEAD_DIM / ROW_THREADS];
#pragma unroll
  for (int c = 0; c < HEAD_DIM / ROW_THREADS; ++c) sums[c] = 0.0f;
  float largest = kLowest;
  float weights = 0.0f;   // of this thread's keys

  for (int first = 0; first < length; first += BLOCK_N) {
    __syncthreads();   // no thread reads the tiles of the previous round any more
    LoadTile(key_tile, K + head + first * HEAD_DIM, BLOCK_N, length - first);
    LoadTile(value_tile, V + head + first * HEAD_DIM, BLOCK_N, length - first);
    __syncthreads();

    float tile_largest = kLowest;
    for (int j = part; j < BLOCK_N; j += ROW_THREADS) {
      float score = kLowest;
      if (first + j < length) {
        const half* key = key_tile + j * STRIDE;
        float sum = 0.0f;
#pragma unroll kUnroll
        for (int d = 0; d < HEAD_DIM; ++d) sum += __half2float(query[d]) * __half2float(key[d]);
        score = sum * scale;
      }
      row_weights[j] = score;
      tile_largest = fmaxf(tile_largest, score);
    }
    for (int offset = ROW_THREADS / 2; offset > 0; offset /= 2) {
      tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xffffffffu, tile_largest, offset));
    }

    // Each tile has at least one key, so `next` is a true score and the weights of keys past the end are exactly zero.
    const float next = fmaxf(largest, tile_largest);
    const float fade = expf(largest - next);
    largest = next;
    weights *= fade;
    for (int j = part; j < BLOCK_N; j += ROW_THREADS) {
      const float weight = expf(row_weights[j] - next);
      row_weights[j] = weight;
      weights += weight;
    }
#pragma unroll
    for (int c = 0; c < HEAD_DIM / ROW_THREADS; ++c) sums[c] *= fade;
    __syncwarp();   // the row's weights come from this warp alone

    for (int j = 0; j < BLOCK_N; ++j) {
      const float weight = row_weights[j];
#pragma unroll
      for (int c = 0; c < HEAD_DIM / ROW_THREADS; ++c) {
        sums[c] += weight * __half2float(value_tile[j * STRIDE + c * ROW_THREADS + part]);
      }
    }
  }

  for (int offset = ROW_THREADS / 2; offset > 0; offset /= 2) weights += __shfl_xor_sync(0xffffffffu, weights, offset);
  if (first_row + row < length) {
#pragma unroll
    for (int c = 0; c < HEAD_DIM / ROW_THREADS; ++c) {
      O[head + (first_row + row) * HEAD_DIM + c * ROW_THREADS + part] = __float2half(sums[c] / weights);
    }
  }
}
