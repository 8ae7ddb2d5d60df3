// Attention by mma.sync for small grids: the warps of a block share its query rows and split the keys.
// A warp copies the keys and values that it needs, keys first, and waits only for parts of these, so that the block has no barrier before
// the end. It computes weights while keys still arrive, and sums while values do. Scores, weights and sums stay in registers; the key groups
// are combined once, through shared memory.
// evo:param BLOCK_M 16 32 64 128
// evo:param WARP_ROWS 16 32
// evo:param WARPS 4 8 16
// evo:param PART 16 32 64
// evo:param PARTS 1 2 4
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:param BF16 0
// evo:constraint WARPS * WARP_ROWS % BLOCK_M == 0 && BLOCK_M % WARP_ROWS == 0
// evo:constraint WARPS * WARP_ROWS / BLOCK_M * max(PARTS * PART * 4 * HEAD_DIM, BLOCK_M * (4 * HEAD_DIM + 40)) <= 232448
// evo:constraint PART * HEAD_DIM / 8 % (BLOCK_M / WARP_ROWS * 32) == 0
// evo:constraint WARPS * WARP_ROWS <= 256 && WARP_ROWS * PART * PARTS <= 4096 && WARP_ROWS * (PART + HEAD_DIM) <= 4096
// evo:requires sm_80
// evo:launch attention_mma_split(Q, K, V, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_M), H, B) block(32 * WARPS) \
//   shared(WARPS * WARP_ROWS / BLOCK_M * max(PARTS * PART * 4 * HEAD_DIM, BLOCK_M * (4 * HEAD_DIM + 40)))
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 32
#endif

// Query rows of a warp.
#ifndef WARP_ROWS
#define WARP_ROWS 16
#endif

#ifndef WARPS
#define WARPS 8
#endif

// Keys that a key group processes at a time: a part.
#ifndef PART
#define PART 32
#endif

// Parts that a key group has in shared memory or is copying: a round.
#ifndef PARTS
#define PARTS 2
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

#define QUERY_WARPS (BLOCK_M / WARP_ROWS)
#define KEY_GROUPS (WARPS / QUERY_WARPS)
#define GROUP_THREADS (32 * QUERY_WARPS)

#include "mma_parts.cuh"

constexpr int kPartElements = PART * HEAD_DIM;
constexpr int kRound = PARTS * KEY_GROUPS * PART;   // keys
// Floats between the rows of a partial output; 8 more than the columns, against bank conflicts.
constexpr int kPartialStride = HEAD_DIM + 8;
constexpr int kPartialElements = BLOCK_M * (kPartialStride + 2) * 2;
constexpr int kGroupElements = 2 * PARTS * kPartElements > kPartialElements ? 2 * PARTS * kPartElements : kPartialElements;
constexpr int kGroupFloats = kGroupElements / 2;

using Scores = float[kTiles][PART / 8][4];
using Left = unsigned[kTiles][PART / 16][4];

// Waits until a part has arrived. The number is that of the groups of copies that were committed after it: see CopyRound.
__device__ __forceinline__ void WaitForParts(int part) {
  // The instruction takes a constant. The switch disappears where the loop over the parts is unrolled.
  switch (2 * PARTS - 1 - part) {
    case 0: WaitForCopies<0>(); break;
    case 1: WaitForCopies<1>(); break;
    case 2: WaitForCopies<2>(); break;
    case 3: WaitForCopies<3>(); break;
    case 4: WaitForCopies<4>(); break;
    case 5: WaitForCopies<5>(); break;
    case 6: WaitForCopies<6>(); break;
    default: WaitForCopies<7>(); break;
  }
}

// Barrier of the warps that share a key group.
__device__ __forceinline__ void SyncGroup(int group) {
  if (QUERY_WARPS == 1) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(GROUP_THREADS) : "memory");
  }
}

// First key of a group's part. Neighbouring parts belong to different groups, so that the groups of a causal block have equal shares.
__device__ __forceinline__ int FirstKey(int round, int part, int group) { return round + (part * KEY_GROUPS + group) * PART; }

// Starts copying a round's keys, or values, of a group; rows from `length` on become zero. Parts from `end` on are not copied.
__device__ __forceinline__ void CopyRound(unsigned to, const Element* head, int round, int group, int end, int length) {
  constexpr int kStep = GROUP_THREADS / kVectors;   // rows that the group copies at a time
  const int thread = threadIdx.x % GROUP_THREADS;
  const int vector = thread % kVectors;
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
    const int first = FirstKey(round, part, group) + thread / kVectors;
    const Element* from = head + first * HEAD_DIM + vector * kVector;
#pragma unroll
    for (int i = 0; i < PART / kStep && FirstKey(round, part, group) < end; ++i) {
      const int row = thread / kVectors + i * kStep;
      const bool valid = first + i * kStep < length;
      // No address past the end is formed, since tools that check memory accesses take it for a read.
      CopyAsync(to + (part * kPartElements + row * HEAD_DIM + Swizzle(row, vector) * kVector) * 2,
                valid ? from + i * kStep * HEAD_DIM : head, valid);
    }
    CommitCopies();   // one group of copies for each part, also if it is empty, because they are counted
  }
}

// Four tiles of eight keys at a time; the next ones are read while these are multiplied.
constexpr int kBatch = PART / 8 < 4 ? PART / 8 : 4;

// Scores of the warp's rows against the keys of a part, not yet scaled.
__device__ __forceinline__ void ComputeScores(const Query& query, const Element* keys, Scores& scores) {
  const int lane = threadIdx.x % 32;
  constexpr int kSteps = PART / 8 / kBatch * (HEAD_DIM / 32);
  uint4 key[2][kBatch];
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int n = 0; n < PART / 8; ++n) scores[m][n][0] = scores[m][n][1] = scores[m][n][2] = scores[m][n][3] = 0.0f;
  }
#pragma unroll
  for (int step = -1; step < kSteps; ++step) {
    const int coming = step + 1;
#pragma unroll
    for (int i = 0; i < kBatch && coming < kSteps; ++i) {
      const int c = coming / (PART / 8 / kBatch);
      const int n = coming % (PART / 8 / kBatch) * kBatch + i;
      key[coming % 2][i] =
          *reinterpret_cast<const uint4*>(keys + (n * 8 + lane / 4) * HEAD_DIM + Swizzle(lane / 4, lane % 4 + 4 * c) * kVector);
    }
    if (step < 0) continue;
    const int c = step / (PART / 8 / kBatch);
    const int n = step % (PART / 8 / kBatch) * kBatch;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const uint4& right = key[step % 2][i];
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          const uint4& upper = query[m][0][c];
          const uint4& lower = query[m][1][c];
          if (half == 0) {
            MultiplyAdd(scores[m][n + i], upper.x, lower.x, upper.y, lower.y, right.x, right.y);
          } else {
            MultiplyAdd(scores[m][n + i], upper.z, lower.z, upper.w, lower.w, right.z, right.w);
          }
        }
      }
    }
  }
}

// Turns the scores of a part into weights relative to the row's largest score so far, as the left factor of the next product;
// sums relative to a smaller one must shrink by `fade`. A row is spread over four lanes: `largest` is the row's,
// `weights` sums this lane's keys. `factor` is positive.
__device__ __forceinline__ void ScoresToWeights(const Scores& scores, float factor, RowState& largest, RowState& weights,
                                                RowState& fade, Left& left) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float next = largest[m][r];
#pragma unroll
      for (int n = 0; n < PART / 8; ++n) next = fmaxf(next, fmaxf(scores[m][n][2 * r], scores[m][n][2 * r + 1]));
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
      next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 2));
      fade[m][r] = Exp2((largest[m][r] - next) * factor);
      largest[m][r] = next;
      const float shift = next * factor;
      float sum = 0.0f;
#pragma unroll
      for (int n = 0; n < PART / 8; ++n) {
        const float a = Exp2(scores[m][n][2 * r] * factor - shift);
        const float b = Exp2(scores[m][n][2 * r + 1] * factor - shift);
        sum += a + b;
        left[m][n / 2][n % 2 * 2 + r] = Pack(a, b);
      }
      weights[m][r] = weights[m][r] * fade[m][r] + sum;
    }
  }
}

// Shrinks the sums and adds weights times values; `values` is an address in shared memory.
__device__ __forceinline__ void AddValues(const Left& left, const RowState& fade, unsigned values, Sums& sums) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int d = 0; d < HEAD_DIM / 8; ++d) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[m][d][e] *= fade[m][e / 2];
    }
  }
  const int lane = threadIdx.x % 32;
  constexpr int kQuarters = HEAD_DIM / 64;   // batches of 64 columns
  constexpr int kSteps = PART / 16 * kQuarters;
  unsigned value[2][4][4];
#pragma unroll
  for (int step = -1; step < kSteps; ++step) {
    const int coming = step + 1;
#pragma unroll
    for (int i = 0; i < 4 && coming < kSteps; ++i) {
      const int k = coming / kQuarters;
      const int d = coming % kQuarters * 4 + i;
      const int row = k * 16 + lane % 16;
      LoadTransposed(values + (row * HEAD_DIM + Swizzle(lane % 8, 2 * d + lane / 16) * kVector) * 2, value[coming % 2][i]);
    }
    if (step < 0) continue;
    const int k = step / kQuarters;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int d = step % kQuarters * 4 + i;
      const unsigned (&right)[4] = value[step % 2][i];
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        const unsigned (&a)[4] = left[m][k];
        MultiplyAdd(sums[m][2 * d], a[0], a[1], a[2], a[3], right[0], right[1]);
        MultiplyAdd(sums[m][2 * d + 1], a[0], a[1], a[2], a[3], right[2], right[3]);
      }
    }
  }
}

// Weights of a round's keys. The products of a part precede the softmax of the previous part, so that the two may overlap. `masked`: some
// row does not see some key of the round. `warp_end`: no row of the warp sees the keys from there on.
template <bool masked>
__device__ __forceinline__ void WeighKeys(const Query& query, const Element* keys, int round, int group, int warp_row,
                                          int warp_end, int end, int length, float factor, const Element* values_of_head,
                                          unsigned values, RowState& largest, RowState& weights, RowState (&fades)[PARTS],
                                          Left (&left)[PARTS]) {
  Scores scores[2];
#pragma unroll
  for (int part = 0; part <= PARTS; ++part) {
    if (part < PARTS) {
      const int first = FirstKey(round, part, group);
      if (part == 0) {
        WaitForCopies<PARTS - 1>();
      } else {
        WaitForParts(part);
      }
      SyncGroup(group);
      if (part == 0) CopyRound(values, values_of_head, round, group, end, length);
      if (!masked || first < warp_end) {
        ComputeScores(query, keys + part * kPartElements, scores[part % 2]);
        const int seen_by_all = CAUSAL ? min(length, warp_row + 1) : length;
        if (masked && first + PART > seen_by_all) MaskScores(scores[part % 2], first, warp_row, length);
      }
    }
    if (part > 0 && (!masked || FirstKey(round, part - 1, group) < warp_end)) {
      ScoresToWeights(scores[(part - 1) % 2], factor, largest, weights, fades[part - 1], left[part - 1]);
    }
  }
}

// Sums of a round's values.
template <bool masked>
__device__ __forceinline__ void AddRound(const Left (&left)[PARTS], const RowState (&fades)[PARTS], unsigned values, int round,
                                         int group, int warp_end, Sums& sums) {
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
    WaitForParts(part);
    SyncGroup(group);
    if (!masked || FirstKey(round, part, group) < warp_end)
      AddValues(left[part], fades[part], values + part * kPartElements * 2, sums);
  }
}

// Leaves the warp's sums in its group's memory: rows of sums, then for each row its largest score, in powers of two, and its weight.
__device__ __forceinline__ void StorePartial(float* partial, int first_row, float factor, const RowState& largest,
                                             const RowState& weights, const Sums& sums) {
  const int lane = threadIdx.x % 32;
  float2* states = reinterpret_cast<float2*>(partial + BLOCK_M * kPartialStride);
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + m * 16 + r * 8 + lane / 4;
      float weight = weights[m][r];
      weight += __shfl_xor_sync(0xffffffffu, weight, 1);
      weight += __shfl_xor_sync(0xffffffffu, weight, 2);
      if (lane % 4 == 0) states[row] = make_float2(largest[m][r] * factor, weight);
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 8; ++d) {
        *reinterpret_cast<float2*>(partial + row * kPartialStride + d * 8 + lane % 4 * 2) =
            make_float2(sums[m][d][2 * r], sums[m][d][2 * r + 1]);
      }
    }
  }
}

// Combines the key groups and writes the block's rows. A thread has twice four columns, so that neighbours read neighbouring fours.
__device__ __forceinline__ void CombineAndStore(const float* partials, Element* out, int valid) {
  constexpr int kFours = HEAD_DIM / 8;   // of half a row
#pragma unroll
  for (int i = threadIdx.x; i < BLOCK_M * kFours; i += 32 * WARPS) {
    const int row = i / kFours;
    const int column = i % kFours * 4;
    float2 state[KEY_GROUPS];
    float4 part[KEY_GROUPS][2];
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      const float* from = partials + g * kGroupFloats;
      state[g] = reinterpret_cast<const float2*>(from + BLOCK_M * kPartialStride)[row];
      part[g][0] = *reinterpret_cast<const float4*>(from + row * kPartialStride + column);
      part[g][1] = *reinterpret_cast<const float4*>(from + row * kPartialStride + HEAD_DIM / 2 + column);
    }
    float largest = kLowest;
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) largest = fmaxf(largest, state[g].x);
    float weight = 0.0f;
    float4 sum[2] = {};
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      const float share = Exp2(state[g].x - largest);
      weight += share * state[g].y;
#pragma unroll
      for (int p = 0; p < 2; ++p) {
        sum[p].x += share * part[g][p].x;
        sum[p].y += share * part[g][p].y;
        sum[p].z += share * part[g][p].z;
        sum[p].w += share * part[g][p].w;
      }
    }
    const float inverse = __fdividef(1.0f, weight);
#pragma unroll
    for (int p = 0; p < 2; ++p) {
      const uint2 four = make_uint2(Pack(sum[p].x * inverse, sum[p].y * inverse), Pack(sum[p].z * inverse, sum[p].w * inverse));
      if (row < valid) *reinterpret_cast<uint2*>(out + row * HEAD_DIM + p * (HEAD_DIM / 2) + column) = four;
    }
  }
}

__global__ void __launch_bounds__(32 * WARPS)
    attention_mma_split(const Element* __restrict__ Q, const Element* __restrict__ K, const Element* __restrict__ V,
                        Element* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  extern __shared__ uint4 shared_memory[];
  const int warp = threadIdx.x / 32;
  const int group = warp / QUERY_WARPS;
  const int block_row = blockIdx.x * BLOCK_M;
  const int warp_row = block_row + warp % QUERY_WARPS * WARP_ROWS;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  Element* keys = reinterpret_cast<Element*>(shared_memory) + group * kGroupElements;
  const unsigned keys_address = static_cast<unsigned>(__cvta_generic_to_shared(keys));
  const unsigned values_address = keys_address + PARTS * kPartElements * 2;
  const int end = CAUSAL ? min(length, block_row + BLOCK_M) : length;   // keys that some row of the block sees
  const int warp_end = CAUSAL ? min(length, warp_row + WARP_ROWS) : length;
  const int seen_by_all = CAUSAL ? min(length, warp_row + 1) : length;

  CopyRound(keys_address, K + head, 0, group, end, length);
  Query query;
  LoadQuery(Q + head, warp_row, length, query);
  Sums sums = {};
  RowState largest;
  RowState weights = {};
#pragma unroll
  for (int m = 0; m < kTiles; ++m) largest[m][0] = largest[m][1] = kLowest;
  const float factor = scale * kLog2E;

  for (int round = 0; round < end; round += kRound) {
    RowState fades[PARTS];
    Left left[PARTS];
    const bool masked = round + kRound > seen_by_all;
    if (masked) {
      WeighKeys<true>(query, keys, round, group, warp_row, warp_end, end, length, factor, V + head, values_address, largest,
                      weights, fades, left);
    } else {
      WeighKeys<false>(query, keys, round, group, warp_row, warp_end, end, length, factor, V + head, values_address, largest,
                       weights, fades, left);
    }
    if (round + kRound < end) SyncGroup(group);   // no warp reads the keys any more
    CopyRound(keys_address, K + head, round + kRound, group, end, length);
    if (masked) {
      AddRound<true>(left, fades, values_address, round, group, warp_end, sums);
    } else {
      AddRound<false>(left, fades, values_address, round, group, warp_end, sums);
    }
  }

  SyncGroup(group);   // the partial outputs replace the group's keys and values
  StorePartial(reinterpret_cast<float*>(keys), warp_row - block_row, factor, largest, weights, sums);
  __syncthreads();
  CombineAndStore(reinterpret_cast<const float*>(shared_memory), O + head + block_row * HEAD_DIM, length - block_row);
}
