// Attention of one query for each head, with the keys of a head shared out to SPLITS blocks. LANES lanes share a key and combine
// its score by shuffles; each such group goes through its keys with an online softmax. The groups of a block are combined in
// shared memory, the blocks of a head by a second kernel.
// evo:param SPLITS 1 4 8 16 32 64 128
// evo:param WARPS 2 4 8
// evo:param LANES 4 8 16
// evo:param KEYS 1 2 4
// evo:constraint WARPS * 32 / LANES <= 64
// evo:workspace sums f32 [B, H, SPLITS, 128]
// evo:workspace states f32 [B, H, SPLITS, 2]
// evo:launch attention_decode_parts(Q, K, V, sums, states, scale, S) grid(SPLITS, B * H) block(32 * WARPS)
// evo:launch attention_decode_combine(sums, states, O) grid(B * H) block(128)
#include <cuda_fp16.h>

// Blocks that share a head.
#ifndef SPLITS
#define SPLITS 16
#endif

// Warps of a block.
#ifndef WARPS
#define WARPS 4
#endif

// Lanes that share a key, each with the same columns of keys, values and output.
#ifndef LANES
#define LANES 8
#endif

// Keys of a group that are under way at a time, with one search for a larger score and one rescaling for all of them.
#ifndef KEYS
#define KEYS 2
#endif

// Elements of a row.
#define HEAD_DIM 128

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kVectors = HEAD_DIM / 8 / LANES;   // of 16 bytes, of a row, in one lane: number member, member + LANES, ...
constexpr int kColumns = kVectors * 8;
constexpr int kGroups = WARPS * 32 / LANES;      // of a block
// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -1.0e30f;
// The score of a key past the end. It is so low that the weight is zero even where a group has seen no other key.
constexpr float kMasked = -3.0e38f;
constexpr float kLog2E = 1.44269504f;

// A lane's columns of a row.
struct Columns {
  uint4 vectors[kVectors];
};

__device__ __forceinline__ Columns LoadColumns(const half* row) {
  Columns columns;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) columns.vectors[v] = *reinterpret_cast<const uint4*>(row + v * LANES * 8);
  return columns;
}

__device__ __forceinline__ void Widen(const Columns& columns, float (&wide)[kColumns]) {
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const half* elements = reinterpret_cast<const half*>(&columns.vectors[v]);
#pragma unroll
    for (int e = 0; e < 8; ++e) wide[v * 8 + e] = __half2float(elements[e]);
  }
}

// Combines `count` parts: of a column the sum, for all of them the largest score and the weight, relative to it. A state has
// both.
__device__ __forceinline__ float Combine(const float* sums, const float* states, int count, int column, float& largest,
                                         float& weight) {
  largest = kLowest;
  for (int i = 0; i < count; ++i) largest = fmaxf(largest, states[2 * i]);
  weight = 0.0f;
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float share = exp2f(states[2 * i] - largest);
    weight += share * states[2 * i + 1];
    sum += share * sums[i * HEAD_DIM + column];
  }
  return sum;
}

__global__ void __launch_bounds__(32 * WARPS)
    attention_decode_parts(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
                           float* __restrict__ sums, float* __restrict__ states, float scale, int length) {
  __shared__ float sums_of_groups[kGroups * HEAD_DIM];
  __shared__ float states_of_groups[kGroups * 2];
  const long long head = blockIdx.y;
  const int group = threadIdx.x / LANES;
  const int column = threadIdx.x % LANES * 8;
  const half* keys = K + head * length * HEAD_DIM + column;
  const half* values = V + head * length * HEAD_DIM + column;
  const int begin = (int)((long long)length * blockIdx.x / SPLITS);
  const int end = (int)((long long)length * (blockIdx.x + 1) / SPLITS);

  // Scores are in units of log2: the weights are powers of two.
  float query[kColumns];
  float sum[kColumns];
  Widen(LoadColumns(Q + head * HEAD_DIM + column), query);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    query[c] *= scale * kLog2E;
    sum[c] = 0.0f;
  }
  float largest = kLowest;
  float weight = 0.0f;
#pragma unroll 1
  for (int first = begin; first < end; first += kGroups * KEYS) {
    Columns key[KEYS];
    Columns value[KEYS];
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
      const long long at = (long long)min(first + k * kGroups + group, end - 1) * HEAD_DIM;
      key[k] = LoadColumns(keys + at);
      value[k] = LoadColumns(values + at);
    }
    float score[KEYS];
    float next = largest;
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
      float wide[kColumns];
      Widen(key[k], wide);
      float product = 0.0f;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) product += query[c] * wide[c];
#pragma unroll
      for (int offset = LANES / 2; offset > 0; offset /= 2) product += __shfl_xor_sync(kAllLanes, product, offset);
      score[k] = first + k * kGroups + group < end ? product : kMasked;
      next = fmaxf(next, score[k]);
    }
    const float fade = exp2f(largest - next);
    largest = next;
    weight *= fade;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sum[c] *= fade;
#pragma unroll
    for (int k = 0; k < KEYS; ++k) {
      const float share = exp2f(score[k] - next);
      weight += share;
      float wide[kColumns];
      Widen(value[k], wide);
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sum[c] += share * wide[c];
    }
  }

#pragma unroll
  for (int c = 0; c < kColumns; ++c) sums_of_groups[group * HEAD_DIM + column + c / 8 * LANES * 8 + c % 8] = sum[c];
  if (threadIdx.x % LANES == 0) {
    states_of_groups[group * 2] = largest;
    states_of_groups[group * 2 + 1] = weight;
  }
  __syncthreads();
  const long long part = head * SPLITS + blockIdx.x;
  for (int c = threadIdx.x; c < HEAD_DIM; c += 32 * WARPS) {
    sums[part * HEAD_DIM + c] = Combine(sums_of_groups, states_of_groups, kGroups, c, largest, weight);
    if (c == 0) {
      states[part * 2] = largest;
      states[part * 2 + 1] = weight;
    }
  }
}

__global__ void __launch_bounds__(HEAD_DIM)
    attention_decode_combine(const float* __restrict__ sums, const float* __restrict__ states, half* __restrict__ O) {
  const long long head = blockIdx.x;
  float largest;
  float weight;
  const float sum =
      Combine(sums + head * SPLITS * HEAD_DIM, states + head * SPLITS * 2, SPLITS, threadIdx.x, largest, weight);
  O[head * HEAD_DIM + threadIdx.x] = __float2half(sum / weight);
}
