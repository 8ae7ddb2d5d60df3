// Attention by warps, without tensor cores: a warp has ROWS query rows in registers and reads keys and values by 16-byte loads. LANES lanes
// share a key and combine its scores by shuffles. The 32 / LANES groups of a warp take neighbouring keys, each with its own online softmax,
// and are combined once, at the end.
// evo:param WARPS 1 2 4 8
// evo:param ROWS 1 2 4 8
// evo:param LANES 4 8
// evo:param KEYS 1 2 4 8
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:param BF16 0
// evo:param KV_GROUP 1
// evo:constraint ROWS * (2 * HEAD_DIM / LANES + KEYS) + KEYS * HEAD_DIM / LANES <= 200
// evo:launch attention_warp(Q, K, V, O, scale, S, D) grid(ceil_div(S, WARPS * ROWS), H, B) block(32 * WARPS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Warps of a block.
#ifndef WARPS
#define WARPS 4
#endif

// Query rows of a warp. Each key that the warp reads serves all of them.
#ifndef ROWS
#define ROWS 2
#endif

// Lanes that share a key, each with the same columns of keys, values and output.
#ifndef LANES
#define LANES 4
#endif

// Keys that a lane group processes in one step, with one search for a larger score and one rescaling for all of them.
#ifndef KEYS
#define KEYS 4
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

#if BF16
using Element = __nv_bfloat16;
#else
using Element = half;
#endif

constexpr unsigned kAllLanes = 0xffffffffu;
// Elements that one access moves: 16 bytes.
constexpr int kVector = 8;
constexpr int kVectors = HEAD_DIM / kVector / LANES;   // of a row, in one lane: number member, member + LANES, ...
constexpr int kColumns = kVectors * kVector;
constexpr int kGroups = 32 / LANES;
// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -1.0e30f;
// The score of a key that a row does not see. It is so low that the weight is zero even where a row has seen no other key.
constexpr float kMasked = -3.0e38f;
constexpr float kLog2E = 1.44269504f;

__device__ __forceinline__ float ToFloat(Element x) {
#if BF16
  return __bfloat162float(x);
#else
  return __half2float(x);
#endif
}

__device__ __forceinline__ Element FromFloat(float x) {
#if BF16
  return __float2bfloat16(x);
#else
  return __float2half(x);
#endif
}

// A lane's columns of a row, in the element type.
struct Columns {
  uint4 vectors[kVectors];
};

__device__ __forceinline__ Columns LoadColumns(const Element* row) {
  Columns columns;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) columns.vectors[v] = *reinterpret_cast<const uint4*>(row + v * LANES * kVector);
  return columns;
}

__device__ __forceinline__ void Widen(const Columns& columns, float (&wide)[kColumns]) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const Element* elements = reinterpret_cast<const Element*>(&columns.vectors[v]);
#pragma unroll
    for (int e = 0; e < kVector; ++e) wide[v * kVector + e] = ToFloat(elements[e]);
  }
}

// The sum over the lanes that share a key.
__device__ __forceinline__ float SumOfLanes(float x) {
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kAllLanes, x, offset);
  return x;
}

__global__ void __launch_bounds__(32 * WARPS)
    attention_warp(const Element* __restrict__ Q, const Element* __restrict__ K, const Element* __restrict__ V, Element* __restrict__ O,
                   float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  const int first_row = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
  if (first_row >= length) return;   // the whole warp at once
  const int lane = threadIdx.x % 32;
  const int column = lane % LANES * kVector;
  const int group = lane / LANES;
  const int head = blockIdx.z * gridDim.y + blockIdx.y;
  const Element* queries = Q + (long long)head * length * HEAD_DIM + column;
  const Element* keys = K + (long long)(head / KV_GROUP) * length * HEAD_DIM + column;
  const Element* values = V + (long long)(head / KV_GROUP) * length * HEAD_DIM + column;

  // Scores are in units of log2: the weights are powers of two. Rows past the end repeat the last one and are not stored.
  float query[ROWS][kColumns];
  float sums[ROWS][kColumns];
  float largest[ROWS];   // of the keys of this lane's group
  float weights[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    Widen(LoadColumns(queries + min(first_row + r, length - 1) * HEAD_DIM), query[r]);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      query[r][c] *= scale * kLog2E;
      sums[r][c] = 0.0f;
    }
    largest[r] = kLowest;
    weights[r] = 0.0f;
  }

  const int end = CAUSAL ? min(length, first_row + ROWS) : length;
  for (int first = 0; first < end; first += kGroups * KEYS) {
    Columns value[KEYS];
    float score[ROWS][KEYS];
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
      const int at = min(first + k * kGroups + group, length - 1) * HEAD_DIM;
      float wide[kColumns];
      Widen(LoadColumns(keys + at), wide);
      value[k] = LoadColumns(values + at);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sum += query[r][c] * wide[c];
        score[r][k] = SumOfLanes(sum);
      }
    }
    // In the last step, or in the last few steps if causal, some row does not see some key.
    if (first + kGroups * KEYS > (CAUSAL ? min(length, first_row + 1) : length)) {
#pragma unroll
      for (int k = 0; k < KEYS; ++k) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          if (first + k * kGroups + group >= (CAUSAL ? min(length, first_row + r + 1) : length)) score[r][k] = kMasked;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      float next = largest[r];
#pragma unroll
      for (int k = 0; k < KEYS; ++k) next = fmaxf(next, score[r][k]);
      const float fade = exp2f(largest[r] - next);
      largest[r] = next;
      weights[r] *= fade;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[r][c] *= fade;
#pragma unroll
      for (int k = 0; k < KEYS; ++k) {
        score[r][k] = exp2f(score[r][k] - next);
        weights[r] += score[r][k];
      }
    }
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
      float wide[kColumns];
      Widen(value[k], wide);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sums[r][c] += score[r][k] * wide[c];
      }
    }
  }

  // Every group's sums, relative to the largest score of all groups. A group without a key has weights of zero.
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float most = largest[r];
    for (int offset = LANES; offset < 32; offset *= 2) most = fmaxf(most, __shfl_xor_sync(kAllLanes, most, offset));
    const float fade = exp2f(largest[r] - most);
    float total = weights[r] * fade;
    for (int offset = LANES; offset < 32; offset *= 2) total += __shfl_xor_sync(kAllLanes, total, offset);
    Columns out;
    Element* elements = reinterpret_cast<Element*>(out.vectors);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      float sum = sums[r][c] * fade;
#pragma unroll
      for (int offset = LANES; offset < 32; offset *= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
      elements[c] = FromFloat(sum / total);
    }
    if (group != r % kGroups || first_row + r >= length) continue;   // each row is stored by one of the groups
    Element* row = O + ((long long)head * length + first_row + r) * HEAD_DIM + column;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) *reinterpret_cast<uint4*>(row + v * LANES * kVector) = out.vectors[v];
  }
}
