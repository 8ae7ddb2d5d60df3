#include "mutators/parallelism/attention/attention_group_text.h"

namespace evo {

const std::string_view kGroupAttention = R"(
  // Each warp group of 128 threads keeps the scores, weights and sums of 64 query rows in registers. Tiles of keys and values
  // come through a ring in shared memory. There, 64 elements of a row lie in panels of 128 bytes, as tensor cores read them.
  constexpr int kThreads = GROUPS_ * 128, kRows = GROUPS_ * 64, kPanel = TILE_KEYS_ * 64;
  extern __shared__ __align__(1024) unsigned char tiles[];
  ELEMENT_* queries = reinterpret_cast<ELEMENT_*>(tiles);
  ELEMENT_ (*tile_k)[TILE_KEYS_ * DEPTH_] = reinterpret_cast<ELEMENT_ (*)[TILE_KEYS_ * DEPTH_]>(queries + kRows * DEPTH_);
  ELEMENT_ (*tile_v)[TILE_KEYS_ * DEPTH_] = tile_k + STAGES_;
  // The shuffle tells the compiler that the number is the same for a warp.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0), lane = threadIdx.x % 32;
  const int last_row = ROWS_, last_key = KEYS_;
  const int first_row = BLOCK_ * kRows;
  const int own_row = first_row + warp * 16;
  const ELEMENT_* from_q = Q_;
  const ELEMENT_* from_k = K_;
  const ELEMENT_* from_v = V_;
#pragma unroll 4
  for (int t = threadIdx.x; t < kRows * (DEPTH_ / 8); t += kThreads) {
    const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8), row = first_row + place;
    CopyVector(&queries[d / 8 * kRows * 64 + Swizzled(place, d % 8)], from_q + ((long long)row * Q_STRIDE_ + d * 8),
               row < last_row ? 8 : 0);
  }
  __pipeline_commit();
  const int end = END_;
  const int steps = (end + TILE_KEYS_ - 1) / TILE_KEYS_;
  const auto bring = [&](int next) {
    if (next < steps) {
#pragma unroll 4
      for (int t = threadIdx.x; t < TILE_KEYS_ * (DEPTH_ / 8); t += kThreads) {
        const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8), key = next * TILE_KEYS_ + place;
        const int to = d / 8 * kPanel + Swizzled(place, d % 8), count = key < last_key ? 8 : 0;
        CopyVector(&tile_k[next % STAGES_][to], from_k + ((long long)key * K_STRIDE_ + d * 8), count);
        CopyVector(&tile_v[next % STAGES_][to], from_v + ((long long)key * V_STRIDE_ + d * 8), count);
      }
    }
    __pipeline_commit();
  };
  for (int next = 0; next < STAGES_ - 1; ++next) bring(next);
  // Scores become powers of two instead of powers of e. The largest is found before they are multiplied by the factor, which is
  // positive therefore: a sign goes to the queries. A factor of zero must not meet the hidden scores, which are infinite.
  const float signed_factor = SCALE_ * 1.44269504f, size = fabsf(signed_factor), factor = size < 1e-30f ? 1e-30f : size;
  if (signed_factor < 0.0f) {
    __pipeline_wait_prior(STAGES_ - 1);
    for (int t = threadIdx.x; t < kRows * (DEPTH_ / 8); t += kThreads) {
      const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8);
      uint4& part = *reinterpret_cast<uint4*>(&queries[d / 8 * kRows * 64 + Swizzled(place, d % 8)]);
      part = make_uint4(part.x ^ 0x80008000u, part.y ^ 0x80008000u, part.z ^ 0x80008000u, part.w ^ 0x80008000u);
    }
  }
  float sums[DEPTH_ / 2] = {}, weights[2] = {}, largest[2] = {-INFINITY, -INFINITY};
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(STAGES_ - 2);
    ShowTensorCores();
    __syncthreads();
    const int slot = step % STAGES_, first_key = step * TILE_KEYS_;
    float scores[TILE_KEYS_ / 2];
    BeginProducts();
#pragma unroll
    for (int d = 0; d < DEPTH_; d += 16) {
      MultiplyGroup(scores, Describe(&queries[d / 64 * kRows * 64 + warp / 4 * 4096 + d % 64], 16),
                    Describe(&tile_k[slot][d / 64 * kPanel + d % 64], 16), d);
    }
    CommitProducts();
    bring(step + STAGES_ - 1);
    FinishProducts(scores);
    if (first_key + TILE_KEYS_ > SEEN_) {
#pragma unroll
      for (int i = 0; i < TILE_KEYS_ / 2; ++i) {
        const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (HIDDEN_) scores[i] = -INFINITY;
      }
    }
    // Scores become weights relative to the row's largest score so far, and sums that were relative to a smaller one shrink. Four
    // lanes share a row.
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = largest[r];
#pragma unroll
      for (int i = 2 * r; i < TILE_KEYS_ / 2; i += 4) most = fmaxf(most, fmaxf(scores[i], scores[i + 1]));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      // While all scores are -infinity, their difference would be no number.
      const float shift = most == -INFINITY ? 0.0f : most * factor;
      const float fade = PowerOfTwo(largest[r] * factor - shift);
      float sum = weights[r] * fade;
#pragma unroll
      for (int i = 2 * r; i < TILE_KEYS_ / 2; i += 4) {
        scores[i] = PowerOfTwo(scores[i] * factor - shift);
        scores[i + 1] = PowerOfTwo(scores[i + 1] * factor - shift);
        sum += scores[i] + scores[i + 1];
      }
#pragma unroll
      for (int i = 2 * r; i < DEPTH_ / 2; i += 4) {
        sums[i] *= fade;
        sums[i + 1] *= fade;
      }
      largest[r] = most;
      weights[r] = sum;
    }
    unsigned left[TILE_KEYS_ / 16][4];
#pragma unroll
    for (int i = 0; i < TILE_KEYS_ / 2; i += 2) left[i / 8][i / 2 % 4] = Pack(scores[i], scores[i + 1]);
    BeginProducts();
#pragma unroll
    for (int j = 0; j < TILE_KEYS_ / 16; ++j)
      MultiplyGroup(sums, left[j], Describe(&tile_v[slot][j * 1024], TILE_KEYS_ * 128), 1);
    CommitProducts();
    FinishProducts(sums);
  }
  // The output takes the queries' place.
  __pipeline_wait_prior(0);
  __syncthreads();
  OUTPUT_* to = O_;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float weight = weights[r];
    weight += __shfl_xor_sync(0xffffffffu, weight, 1);
    weight += __shfl_xor_sync(0xffffffffu, weight, 2);
    const float inverse = INVERSE_;
)";

// Of scores to which something is added, or which a mask hides.
const std::string_view kGroupTerms = R"(
#pragma unroll
    for (int i = 0; i < TILE_KEYS_ / 2; ++i) {
      const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2, row = own_row + i / 2 % 2 * 8 + lane / 4;
      float& score = scores[i];
SCORE_
    }
)";

const std::string_view kGroupStoreElements = R"(
    const int place = warp * 16 + r * 8 + lane / 4;
#pragma unroll
    for (int i = 2 * r; i < DEPTH_ / 2; i += 4) {
      const int d = i / 4;
      *reinterpret_cast<unsigned*>(&queries[d / 8 * kRows * 64 + Swizzled(place, d % 8) + lane % 4 * 2]) =
          Pack(sums[i] * inverse, sums[i + 1] * inverse);
    }
  }
  __syncwarp();
#pragma unroll 4
  for (int t = lane; t < 16 * (DEPTH_ / 8); t += 32) {
    const int place = warp * 16 + t / (DEPTH_ / 8), d = t % (DEPTH_ / 8), row = first_row + place;
    if (row < last_row)
      StoreVector(to + ((long long)row * O_STRIDE_ + d * 8), &queries[d / 8 * kRows * 64 + Swizzled(place, d % 8)]);
  }
)";

const std::string_view kGroupStoreNumbers = R"(
    const int row = own_row + r * 8 + lane / 4;
    if (row >= last_row) continue;
#pragma unroll
    for (int i = 2 * r; i < DEPTH_ / 2; i += 4) {
      to[(long long)row * O_STRIDE_ + i / 4 * 8 + lane % 4 * 2] = sums[i] * inverse;
      to[(long long)row * O_STRIDE_ + i / 4 * 8 + lane % 4 * 2 + 1] = sums[i + 1] * inverse;
    }
  }
)";

}  // namespace evo
