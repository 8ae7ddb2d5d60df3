#include "mutators/parallelism/attention/attention_text.h"

namespace evo {

const std::string_view kAttentionBegin = R"(
  // A warp keeps the scores, weights and sums of its query rows in registers. Tiles of keys and values come through a ring in
  // shared memory; eight more elements in a row keep the rows that are read together in different banks.
  constexpr int kThreads = WARPS_ * 32, kRows = WARPS_ * WARP_ROWS_, kParts = WARP_ROWS_ / 16;
  extern __shared__ __align__(16) unsigned char tiles[];
  ELEMENT_ (*queries)[DEPTH_ + 8] = reinterpret_cast<ELEMENT_ (*)[DEPTH_ + 8]>(tiles);
  ELEMENT_ (*tile_k)[TILE_KEYS_][DEPTH_ + 8] = reinterpret_cast<ELEMENT_ (*)[TILE_KEYS_][DEPTH_ + 8]>(queries + kRows);
  ELEMENT_ (*tile_v)[TILE_KEYS_][DEPTH_ + 8] = tile_k + STAGES_;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int last_row = ROWS_, last_key = KEYS_;
  const int first_row = BLOCK_ * kRows, own_row = first_row + warp * WARP_ROWS_;
  const ELEMENT_* from_q = Q_;
  const ELEMENT_* from_k = K_;
  const ELEMENT_* from_v = V_;
#pragma unroll 4
  for (int t = threadIdx.x; t < kRows * (DEPTH_ / 8); t += kThreads) {
    const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, row = first_row + place;
    CopyVector(&queries[place][d], from_q + ((long long)row * Q_STRIDE_ + d), row < last_row ? 8 : 0);
  }
  // Scores become powers of two instead of powers of e.
  const float factor = SCALE_ * 1.44269504f;
QUERY_
  float sums[kParts][DEPTH_ / 8][4] = {}, weights[kParts][2] = {}, largest[kParts][2];
#pragma unroll
  for (int i = 0; i < kParts; ++i) largest[i][0] = largest[i][1] = -INFINITY;
  const int end = END_;
  const int steps = (end + TILE_KEYS_ - 1) / TILE_KEYS_;
  for (int step = 1 - STAGES_; step < steps; ++step) {
    if (step >= 0) {
      __pipeline_wait_prior(STAGES_ - 2);
      __syncthreads();
    }
    const int next = step + STAGES_ - 1;
    if (next < steps) {
#pragma unroll 4
      for (int t = threadIdx.x; t < TILE_KEYS_ * (DEPTH_ / 8); t += kThreads) {
        const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, key = next * TILE_KEYS_ + place;
        const int count = key < last_key ? 8 : 0;
        CopyVector(&tile_k[next % STAGES_][place][d], from_k + ((long long)key * K_STRIDE_ + d), count);
        CopyVector(&tile_v[next % STAGES_][place][d], from_v + ((long long)key * V_STRIDE_ + d), count);
      }
    }
    __pipeline_commit();
    if (step < 0) continue;
QUERIES_
    const int slot = step % STAGES_, first_key = step * TILE_KEYS_;
)";

// Of the first step: all queries of the warp.
const std::string_view kAttentionQueries = R"(
    if (step == 0) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int d = 0; d < DEPTH_ / 16; ++d) {
          LoadMatrices(query[i][d], &queries[warp * WARP_ROWS_ + i * 16 + lane % 16][d * 16 + lane / 16 * 8]);
        }
      }
    }
)";

// Of each step: those that the products with a part of the keys take.
const std::string_view kAttentionQueryPart = R"(
      unsigned query[kParts][4];
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        LoadMatrices(query[i], &queries[warp * WARP_ROWS_ + i * 16 + lane % 16][d * 16 + lane / 16 * 8]);
      }
)";

const std::string_view kAttentionScores = R"(
    float scores[kParts][TILE_KEYS_ / 8][4] = {};
#pragma unroll
    for (int d = 0; d < DEPTH_ / 16; ++d) {
QUERY_PART_
#pragma unroll
      for (int j = 0; j < TILE_KEYS_ / 16; ++j) {
        unsigned part[4];
        LoadMatrices(part, &tile_k[slot][j * 16 + lane / 16 * 8 + lane % 8][d * 16 + lane / 8 % 2 * 8]);
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          MultiplyAdd(scores[i][2 * j], query[i]QUERY_AT_, part[0], part[1]);
          MultiplyAdd(scores[i][2 * j + 1], query[i]QUERY_AT_, part[2], part[3]);
        }
      }
    }
)";

// Of scores that are only scaled: the others are not looked at where all rows of the warp see all keys of a tile.
const std::string_view kAttentionScaled = R"(
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[i][j][e] *= factor;
      }
    }
    if (first_key + TILE_KEYS_ > SEEN_) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = first_key + j * 8 + lane % 4 * 2 + e % 2;
            if (HIDDEN_) scores[i][j][e] = -INFINITY;
          }
        }
      }
    }
)";

// Of scores to which something is added, or which a mask hides.
const std::string_view kAttentionTerms = R"(
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int key = first_key + j * 8 + lane % 4 * 2 + e % 2, row = own_row + i * 16 + e / 2 * 8 + lane / 4;
          float& score = scores[i][j][e];
SCORE_
        }
      }
    }
)";

const std::string_view kAttentionWeights = R"(
    // Scores become weights relative to the row's largest score so far, and sums that were relative to a smaller one shrink. Four
    // lanes share a row.
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = largest[i][r];
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) most = fmaxf(most, fmaxf(scores[i][j][2 * r], scores[i][j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
        // While all scores are -infinity, their difference would be no number.
        const float shift = most == -INFINITY ? 0.0f : most;
        const float fade = PowerOfTwo(largest[i][r] - shift);
        float sum = weights[i][r] * fade;
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
          for (int e = 2 * r; e < 2 * r + 2; ++e) {
            scores[i][j][e] = PowerOfTwo(scores[i][j][e] - shift);
            sum += scores[i][j][e];
          }
        }
#pragma unroll
        for (int d = 0; d < DEPTH_ / 8; ++d) {
          sums[i][d][2 * r] *= fade;
          sums[i][d][2 * r + 1] *= fade;
        }
        largest[i][r] = most;
        weights[i][r] = sum;
      }
    }
#pragma unroll
    for (int j = 0; j < TILE_KEYS_ / 16; ++j) {
      unsigned left[kParts][4];
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          left[i][e] = Pack(scores[i][2 * j + e / 2][e % 2 * 2], scores[i][2 * j + e / 2][e % 2 * 2 + 1]);
        }
      }
#pragma unroll
      for (int d = 0; d < DEPTH_ / 16; ++d) {
        unsigned part[4];
        LoadTransposed(part, &tile_v[slot][j * 16 + lane % 16][d * 16 + lane / 16 * 8]);
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          MultiplyAdd(sums[i][2 * d], left[i], part[0], part[1]);
          MultiplyAdd(sums[i][2 * d + 1], left[i], part[2], part[3]);
        }
      }
    }
  }
)";

const std::string_view kAttentionRows = R"(
  __pipeline_wait_prior(0);
  __syncwarp();  // with one tile no barrier has followed the loads of the queries, whose place the output takes
  OUTPUT_* to = O_;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float weight = weights[i][r];
      weight += __shfl_xor_sync(0xffffffffu, weight, 1);
      weight += __shfl_xor_sync(0xffffffffu, weight, 2);
      const float inverse = INVERSE_;
SUM_
)";

// Of rows that store the logarithm of their sum, too: the largest score is one of a power of two.
const std::string_view kAttentionSums = R"(
      if (lane % 4 == 0 && own_row + i * 16 + r * 8 + lane / 4 < last_row) {
        float* const own_sums = SUMS_;
        own_sums[(long long)(own_row + i * 16 + r * 8 + lane / 4) * SUMS_ROW_] =
            0.693147181f * (largest[i][r] + log2f(weight));
      }
)";

const std::string_view kFloatSums = R"(
  float* const own_sums = SUMS_;
  if (part == 0 && row < last_row) own_sums[(long long)row * SUMS_ROW_] = largest + logf(weights);
)";

// Of rows that store their largest score and the sum of their weights.
const std::string_view kAttentionTop = R"(
      if (lane % 4 == 0 && own_row + i * 16 + r * 8 + lane / 4 < last_row) {
        const int row = own_row + i * 16 + r * 8 + lane / 4;
        const float most = 0.693147181f * largest[i][r];
TOPS_
      }
)";

const std::string_view kFloatTop = R"(
  if (part == 0 && row < last_row) {
    const float most = largest, weight = weights;
TOPS_
  }
)";

// The warp's rows go through shared memory, where its queries were.
const std::string_view kAttentionStoreElements = R"(
      const int place = warp * WARP_ROWS_ + i * 16 + r * 8 + lane / 4;
#pragma unroll
      for (int d = 0; d < DEPTH_ / 8; ++d) {
        *reinterpret_cast<unsigned*>(&queries[place][d * 8 + lane % 4 * 2]) =
            Pack(sums[i][d][2 * r] * inverse, sums[i][d][2 * r + 1] * inverse);
      }
    }
  }
  __syncwarp();
#pragma unroll 4
  for (int t = lane; t < WARP_ROWS_ * (DEPTH_ / 8); t += 32) {
    const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, row = own_row + place;
    if (row < last_row) StoreVector(to + ((long long)row * O_STRIDE_ + d), &queries[warp * WARP_ROWS_ + place][d]);
  }
)";

const std::string_view kAttentionStoreNumbers = R"(
      const int row = own_row + i * 16 + r * 8 + lane / 4;
      if (row >= last_row) continue;
#pragma unroll
      for (int d = 0; d < DEPTH_ / 8; ++d) {
        to[(long long)row * O_STRIDE_ + d * 8 + lane % 4 * 2] = sums[i][d][2 * r] * inverse;
        to[(long long)row * O_STRIDE_ + d * 8 + lane % 4 * 2 + 1] = sums[i][d][2 * r + 1] * inverse;
      }
    }
  }
)";

// Of floats.
const std::string_view kFloatAttention = R"(
  // Some threads of a warp share a row of queries: each has every kRowThreads-th element. Tiles of keys and values are in shared
  // memory for all rows of the block.
  constexpr int kThreads = WARPS_ * 32, kRows = kThreads / WARP_ROWS_, kParts = (DEPTH_ + WARP_ROWS_ - 1) / WARP_ROWS_;
  extern __shared__ __align__(16) unsigned char tiles[];
  float* tile_k = reinterpret_cast<float*>(tiles);
  float* tile_v = tile_k + TILE_KEYS_ * DEPTH_;
  const int part = threadIdx.x % WARP_ROWS_, last_row = ROWS_, last_key = KEYS_;
  const int first_row = BLOCK_ * kRows, row = first_row + threadIdx.x / WARP_ROWS_;
  const float* from_q = Q_;
  const float* from_k = K_;
  const float* from_v = V_;
  const float factor = SCALE_;
  float query[kParts] = {}, sums[kParts] = {}, largest = -INFINITY, weights = 0.0f;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int d = i * WARP_ROWS_ + part;
    if (row < last_row && d < DEPTH_) query[i] = from_q[(long long)row * Q_STRIDE_ + d] * factor;
  }
  const int end = END_;
  for (int first_key = 0; first_key < end; first_key += TILE_KEYS_) {
    const int count = min(TILE_KEYS_, end - first_key);
    __syncthreads();
    for (int t = threadIdx.x; t < count * DEPTH_; t += kThreads) {
      const int place = t / DEPTH_, d = t % DEPTH_, key = first_key + place;
      tile_k[t] = from_k[(long long)key * K_STRIDE_ + d];
      tile_v[t] = from_v[(long long)key * V_STRIDE_ + d];
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      float score = 0.0f;
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const int d = i * WARP_ROWS_ + part;
        if (d < DEPTH_) score += query[i] * tile_k[j * DEPTH_ + d];
      }
#pragma unroll
      for (int e = WARP_ROWS_ / 2; e > 0; e /= 2) score += __shfl_xor_sync(0xffffffffu, score, e);
      if (HIDDEN_) continue;
      const float most = fmaxf(largest, score), shift = most == -INFINITY ? 0.0f : most;
      const float fade = expf(largest - shift), weight = expf(score - shift);
      weights = weights * fade + weight;
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const int d = i * WARP_ROWS_ + part;
        if (d < DEPTH_) sums[i] = sums[i] * fade + weight * tile_v[j * DEPTH_ + d];
      }
      largest = most;
    }
  }
  float* to = O_;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int d = i * WARP_ROWS_ + part;
    if (row < last_row && d < DEPTH_) to[(long long)row * O_STRIDE_ + d] = RESULT_;
  }
)";

}  // namespace evo
