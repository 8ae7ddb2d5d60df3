// Attention, one thread a query row. Three passes over the keys: the largest score, the sum of the weights, the weighted values.
// evo:param BLOCK 32 64 128 256
// evo:param UNROLL 1 2 4 8 16
// evo:param COLUMNS 8 16 32 64
// evo:constraint UNROLL <= COLUMNS
// evo:launch attention_naive(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK), H, B) block(BLOCK)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Threads of a block.
#ifndef BLOCK
#define BLOCK 64
#endif

// How often the inner loops are unrolled.
#ifndef UNROLL
#define UNROLL 1
#endif

// Columns of the output that are summed in one pass over the keys.
#ifndef COLUMNS
#define COLUMNS 32
#endif

// Whether row i sees the keys 0 to i only.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row.
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

#if BF16
using Element = __nv_bfloat16;
#else
using Element = half;
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__device__ float ToFloat(Element x) {
#if BF16
  return __bfloat162float(x);
#else
  return __half2float(x);
#endif
}

__device__ Element FromFloat(float x) {
#if BF16
  return __float2bfloat16(x);
#else
  return __float2half(x);
#endif
}

__device__ float Score(const Element* query, const Element* key, float scale) {
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int d = 0; d < HEAD_DIM; ++d) {
    sum += ToFloat(query[d]) * ToFloat(key[d]);
  }
  return sum * scale;
}

__global__ void attention_naive(const Element* Q, const Element* K, const Element* V, Element* O, float scale, int length,
                                int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= length) return;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  const int queries = head * length * HEAD_DIM;
  const int keys = head / KV_GROUP * length * HEAD_DIM;
  const Element* query = Q + queries + row * HEAD_DIM;
#if CAUSAL
  const int end = row + 1;
#else
  const int end = length;
#endif

  float largest = Score(query, K + keys, scale);
  for (int key = 1; key < end; ++key) {
    largest = fmaxf(largest, Score(query, K + keys + key * HEAD_DIM, scale));
  }
  float weights = 0.0f;
  for (int key = 0; key < end; ++key) {
    weights += expf(Score(query, K + keys + key * HEAD_DIM, scale) - largest);
  }
  for (int first = 0; first < HEAD_DIM; first += COLUMNS) {
    float sums[COLUMNS];
    for (int c = 0; c < COLUMNS; ++c) sums[c] = 0.0f;
    for (int key = 0; key < end; ++key) {
      const float weight = expf(Score(query, K + keys + key * HEAD_DIM, scale) - largest) / weights;
#pragma unroll kUnroll
      for (int c = 0; c < COLUMNS; ++c) {
        sums[c] += weight * ToFloat(V[keys + key * HEAD_DIM + first + c]);
      }
    }
    for (int c = 0; c < COLUMNS; ++c) {
      O[queries + row * HEAD_DIM + first + c] = FromFloat(sums[c]);
    }
  }
}
