#include "mutators/parallelism/attention/split_attention_text.h"

namespace evo {

const std::string_view kAttentionParts = R"(
  // A block has a part of a row's keys. LANES_ lanes share a key and combine its score by shuffles; each such group goes through
  // its keys with an online softmax. Groups of a warp are combined by shuffles, warps in shared memory.
  constexpr int kVector = 16 / sizeof(ELEMENT_), kVectors = DEPTH_ / kVector / LANES_, kColumns = kVectors * kVector;
  constexpr int kGroups = WARPS_ * 32 / LANES_;
  __shared__ float warp_sums[WARPS_][DEPTH_], warp_largest[WARPS_], warp_weights[WARPS_];
  const int warp = threadIdx.x / 32, group = threadIdx.x / LANES_, column = threadIdx.x % LANES_ * kVector;
  const int last_key = KEYS_, part = PART_;
  const int begin = int((long long)last_key * part / PARTS_), end = int((long long)last_key * (part + 1) / PARTS_);
  const ELEMENT_* from_q = Q_;
  const ELEMENT_* from_k = K_;
  const ELEMENT_* from_v = V_;
  const long long stride_k = K_STRIDE_, stride_v = V_STRIDE_;
  // Of all rows of keys and values, so that a step's loads are 16 bytes each and all on their way together.
  const bool aligned = (reinterpret_cast<size_t>(from_k) | reinterpret_cast<size_t>(from_v)) % 16 == 0 &&
                       (stride_k | stride_v) % kVector == 0;
  // Scores become powers of two instead of powers of e.
  const float factor = SCALE_ * 1.44269504f;
  float query[kColumns], sums[kColumns] = {}, largest = -INFINITY, weights = 0.0f;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    query[c] = TO_FLOAT_(from_q[c / kVector * (LANES_ * kVector) + column + c % kVector]) * factor;
  }
#pragma unroll 1
  for (int first = begin; first < end; first += kGroups * STEP_) {
    uint4 keys[STEP_][kVectors], values[STEP_][kVectors];
    if (aligned) {
#pragma unroll
      for (int k = 0; k < STEP_; ++k) {
        // Past the end the last key is read again, with a weight of zero.
        const long long key = min(first + k * kGroups + group, end - 1);
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const int d = v * (LANES_ * kVector) + column;
          keys[k][v] = *reinterpret_cast<const uint4*>(from_k + (key * stride_k + d));
          values[k][v] = *reinterpret_cast<const uint4*>(from_v + (key * stride_v + d));
        }
      }
    } else {
#pragma unroll
      for (int k = 0; k < STEP_; ++k) {
        const long long key = min(first + k * kGroups + group, end - 1);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const int d = c / kVector * (LANES_ * kVector) + column + c % kVector;
          reinterpret_cast<ELEMENT_*>(keys[k])[c] = from_k[key * stride_k + d];
          reinterpret_cast<ELEMENT_*>(values[k])[c] = from_v[key * stride_v + d];
        }
      }
    }
    float scores[STEP_], most = largest;
#pragma unroll
    for (int k = 0; k < STEP_; ++k) {
      const ELEMENT_* elements = reinterpret_cast<const ELEMENT_*>(keys[k]);
      float score = 0.0f;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) score += query[c] * TO_FLOAT_(elements[c]);
#pragma unroll
      for (int e = LANES_ / 2; e > 0; e /= 2) score += __shfl_xor_sync(0xffffffffu, score, e);
      scores[k] = first + k * kGroups + group < end ? score : -INFINITY;
      most = fmaxf(most, scores[k]);
    }
    // While all scores are -infinity, their difference would be no number.
    const float shift = most == -INFINITY ? 0.0f : most;
    const float fade = exp2f(largest - shift);
    weights *= fade;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) sums[c] *= fade;
#pragma unroll
    for (int k = 0; k < STEP_; ++k) {
      const ELEMENT_* elements = reinterpret_cast<const ELEMENT_*>(values[k]);
      const float weight = exp2f(scores[k] - shift);
      weights += weight;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[c] += weight * TO_FLOAT_(elements[c]);
    }
    largest = most;
  }
  // The groups of a warp.
  float most = largest;
#pragma unroll
  for (int e = LANES_; e < 32; e *= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, e));
  const float fade = exp2f(largest - (most == -INFINITY ? 0.0f : most));
  weights *= fade;
#pragma unroll
  for (int e = LANES_; e < 32; e *= 2) weights += __shfl_xor_sync(0xffffffffu, weights, e);
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    sums[c] *= fade;
#pragma unroll
    for (int e = LANES_; e < 32; e *= 2) sums[c] += __shfl_xor_sync(0xffffffffu, sums[c], e);
    if (threadIdx.x % 32 < LANES_) warp_sums[warp][c / kVector * (LANES_ * kVector) + column + c % kVector] = sums[c];
  }
  if (threadIdx.x % 32 == 0) {
    warp_largest[warp] = most;
    warp_weights[warp] = weights;
  }
  __syncthreads();
  // The warps of the block: a part's sums are relative to its largest score.
  most = -INFINITY;
#pragma unroll
  for (int i = 0; i < WARPS_; ++i) most = fmaxf(most, warp_largest[i]);
  const float shift = most == -INFINITY ? 0.0f : most;
  const long long to = (long long)(ROW_) * PARTS_ + part;
  for (int d = threadIdx.x; d < DEPTH_; d += WARPS_ * 32) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS_; ++i) sum += warp_sums[i][d] * exp2f(warp_largest[i] - shift);
    PART_SUMS_[to * DEPTH_ + d] = sum;
  }
  if (threadIdx.x == 0) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < WARPS_; ++i) sum += warp_weights[i] * exp2f(warp_largest[i] - shift);
    PART_STATES_[2 * to] = most;
    PART_STATES_[2 * to + 1] = sum;
  }
)";

const std::string_view kAttentionOfParts = R"(
  // A thread has a column of the row. Parts without keys have weights of zero.
  const long long first = (long long)(ROW_) * PARTS_;
  float most = -INFINITY;
#pragma unroll 8
  for (int i = 0; i < PARTS_; ++i) most = fmaxf(most, PART_STATES_[2 * (first + i)]);
  const float shift = most == -INFINITY ? 0.0f : most;
  float sum = 0.0f, weights = 0.0f;
#pragma unroll 8
  for (int i = 0; i < PARTS_; ++i) {
    const float share = exp2f(PART_STATES_[2 * (first + i)] - shift);
    weights += share * PART_STATES_[2 * (first + i) + 1];
    sum += share * PART_SUMS_[(first + i) * DEPTH_ + threadIdx.x];
  }
  OUTPUT_* to = O_;
  to[threadIdx.x] = FROM_FLOAT_(RESULT_);
)";

}  // namespace evo
