// Attention for Hopper where a block's keys fit into shared memory. All copies are started at the beginning. The warp groups of a block
// split its query rows, 64 each, and groups with the same rows split the keys. So four groups with few registers each can work, where
// attention/wgmma.cu has two or three. The key groups are combined once, through shared memory.
// evo:param BLOCK_M 64 128
// evo:param KEY_GROUPS 1 2
// evo:param TILES 1 2 4 8
// evo:param COPY_KEYS 64 128
// evo:param SPECULATE 0 1
// evo:param PING_PONG 0 1
// evo:param QUERY_REGISTERS 0 1
// evo:param INTEGER_MAX 0 1
// evo:param LAZY_RESCALE 0 1
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint BLOCK_M * KEY_GROUPS <= 256
// evo:constraint PING_PONG * 128 <= BLOCK_M * KEY_GROUPS
// evo:constraint BLOCK_M * 128 + KEY_GROUPS * TILES * 16384 + (KEY_GROUPS - 1) * BLOCK_M * 320 + 2048 <= 232448
// evo:constraint KEY_GROUPS * TILES * 64 % COPY_KEYS == 0
// evo:constraint QUERY_REGISTERS == 0 || TILES >= 2
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, BLOCK_M, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, COPY_KEYS, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, COPY_KEYS, 1) swizzle(128)
// evo:launch attention_wgmma_short(Q_map, K_map, V_map, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_M), H, B) block(2 * BLOCK_M * KEY_GROUPS) \
//   shared(BLOCK_M * 128 + KEY_GROUPS * TILES * 16384 + (KEY_GROUPS - 1) * BLOCK_M * 320 + 2048)
#include <cuda_fp16.h>

// Query rows of a block: 64 for each row group.
#ifndef BLOCK_M
#define BLOCK_M 128
#endif

// Warp groups that share the same rows and split the keys.
#ifndef KEY_GROUPS
#define KEY_GROUPS 2
#endif

// Tiles of 64 keys that a key group has in shared memory.
#ifndef TILES
#define TILES 4
#endif

// Keys of a copy. Fewer copies with fewer barriers are started sooner, and smaller ones arrive sooner.
#ifndef COPY_KEYS
#define COPY_KEYS 64
#endif

// Whether weights are first computed without the largest score; see SumSpeculatively. Where that often fails, as with queries and keys of
// deviation 2, everything is computed twice, and 0 is faster.
#ifndef SPECULATE
#define SPECULATE 1
#endif

// Whether the groups start their products alternately, if SPECULATE is 1.
#ifndef PING_PONG
#define PING_PONG 1
#endif

// Whether the queries stay in registers instead of being read from shared memory for every tile.
#ifndef QUERY_REGISTERS
#define QUERY_REGISTERS 0
#endif

// Whether the largest score is found by comparing integers, three at a time.
#ifndef INTEGER_MAX
#define INTEGER_MAX 0
#endif

// Whether a maximum that grew by less than 2^8 is kept, which saves rescaling the sums.
#ifndef LAZY_RESCALE
#define LAZY_RESCALE 0
#endif

// Whether a query sees only the keys up to its own position.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row. The kernel returns at once if the task has another size.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

#define ROW_GROUPS (BLOCK_M / 64)
#define GROUPS (ROW_GROUPS * KEY_GROUPS)

#define ELEMENT_NAME "f16"
#include "wgmma_tiles.cuh"
#include "wgmma_rows.cuh"

constexpr int kRoundKeys = KEY_GROUPS * TILES * kTileKeys;
constexpr int kCopies = kRoundKeys / COPY_KEYS;   // of keys a round, and as many of values

// Bytes.
constexpr int kQueryBytes = 64 * kRowBytes;   // of a row group
constexpr int kCopyBytes = COPY_KEYS * kRowBytes;

constexpr float kLargestTotal = 60000.0f;      // see SumSpeculatively
constexpr float kSmallestWeight = 0x1p-9f;

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = ROW_GROUPS * kQueryBytes;
constexpr int kValues = kKeys + kRoundKeys * kRowBytes;
constexpr int kBarriers = kValues + kRoundKeys * kRowBytes;   // of each copy of keys, which queries join first, then of values
constexpr int kPartials = kBarriers + 512;                    // past 32 barriers

// A 64 x 64 tile of scores, or of sums, as an accumulator.
using Tile = float[32];

// Keys from `end` on, counted from the tile's first one, do not count for the thread's rows.
__device__ __forceinline__ void Mask(Tile& scores, int end0, int end1) {
  const int left[2] = {end0 - static_cast<int>(threadIdx.x) % 4 * 2, end1 - static_cast<int>(threadIdx.x) % 4 * 2};
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (i / 4 * 8 + i % 2 >= left[i / 2 % 2]) scores[i] = Lowest();
  }
}

// Starts scores = queries times keys.
__device__ __forceinline__ void StartScores(Tile& scores, unsigned queries, const unsigned* held, unsigned keys) {
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) {
    if (QUERY_REGISTERS) {
      MultiplyRegisters<0>(scores, held + 4 * k, Descriptor(keys + k * 32), k > 0);
    } else {
      MultiplyShared(scores, Descriptor(queries + k * 32), Descriptor(keys + k * 32), k > 0);
    }
  }
  CommitProducts();
}

// Starts sums += weights times values.
__device__ __forceinline__ void StartSums(Tile& sums, const unsigned (&weights)[16], unsigned values) {
#pragma unroll
  for (int k = 0; k < kTileKeys / 16; ++k) MultiplyRegisters<1>(sums, weights + 4 * k, Descriptor(values + k * 16 * kRowBytes), 1);
  CommitProducts();
}

// Loads a thread's part of the queries as left operands of the products, and undoes the swizzle.
__device__ __forceinline__ void LoadQueries(unsigned queries, unsigned* held) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) {
    const int chunk = (k * 2 + lane / 16) ^ (row % 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[4 * k]), "=r"(held[4 * k + 1]), "=r"(held[4 * k + 2]), "=r"(held[4 * k + 3])
                 : "r"(queries + row * kRowBytes + chunk * 16)
                 : "memory");
  }
}

// The group's share of the work. It is computed again where it is needed, so that it takes no registers in between.
struct Place {
  unsigned shared;   // address
  int head, group_row, row_group, key_group;
  int end;         // keys that some row of the block sees
  int group_end;   // and some row of the group
  int seen_by_all; // and all of its rows

  __device__ __forceinline__ explicit Place(int length) {
    extern __shared__ uint4 shared_memory[];
    unsigned thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    const int group = __shfl_sync(0xffffffffu, static_cast<int>(thread / 128), 0);
    key_group = group % KEY_GROUPS;
    row_group = group / KEY_GROUPS;
    const int block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_M;
    group_row = block_row + row_group * 64;
    const unsigned begin = SharedAddress(shared_memory);
    shared = begin + (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
    head = blockIdx.z * gridDim.y + blockIdx.y;
    end = CAUSAL ? min(length, block_row + BLOCK_M) : length;
    group_end = CAUSAL ? min(length, group_row + 64) : length;
    seen_by_all = CAUSAL ? min(length, group_row + 1) : length;
  }
  // Keys that the thread's row `r` sees.
  __device__ __forceinline__ int Seen(int r, int length) const {
    const int thread = threadIdx.x % 128;
    return CAUSAL ? min(length, group_row + thread / 32 * 16 + thread % 32 / 4 + 8 * r + 1) : length;
  }
  __device__ __forceinline__ unsigned Queries() const { return shared + row_group * kQueryBytes; }
  // Neighbouring tiles belong to different key groups, so that those of a causal block have equal shares.
  __device__ __forceinline__ int FirstKey(int tile) const { return (tile * KEY_GROUPS + key_group) * kTileKeys; }
  __device__ __forceinline__ unsigned Keys(int tile) const { return shared + kKeys + FirstKey(tile) * kRowBytes; }
  __device__ __forceinline__ unsigned Values(int tile) const { return Keys(tile) + (kValues - kKeys); }
  __device__ __forceinline__ int Group() const { return row_group * KEY_GROUPS + key_group; }
  // Tiles of a round that the group's rows see; may be negative.
  __device__ __forceinline__ int Tiles(int round) const {
    return min(TILES, (group_end - round - FirstKey(0) + KEY_GROUPS * kTileKeys - 1) / (KEY_GROUPS * kTileKeys));
  }
  // Where a thread of a key group leaves sums for the other group of the same rows.
  __device__ __forceinline__ float4* Partial(int of_key_group) const {
    extern __shared__ uint4 shared_memory[];
    float4* base = reinterpret_cast<float4*>(reinterpret_cast<char*>(shared_memory) + (shared - SharedAddress(shared_memory)) + kPartials);
    return base + (row_group * KEY_GROUPS + of_key_group) * (5 * 128) + threadIdx.x % 128;
  }
  // `values` is 0 for keys and 1 for values.
  __device__ __forceinline__ unsigned CopyBarrier(int copy, int values) const { return shared + kBarriers + (copy + values * kCopies) * 8; }
  __device__ __forceinline__ unsigned KeyBarrier(int tile) const { return CopyBarrier(FirstKey(tile) / COPY_KEYS, 0); }
  __device__ __forceinline__ unsigned ValueBarrier(int tile) const { return CopyBarrier(FirstKey(tile) / COPY_KEYS, 1); }
  // Starts a copy of a round's keys or values. To be called by one thread.
  __device__ __forceinline__ void OrderCopy(const TensorMap* map, int round, int copy, int values) const {
    const int first = round + copy * COPY_KEYS;
    if (first >= end) return;
    const unsigned to = shared + (values ? kValues : kKeys) + copy * kCopyBytes;
    Copy(to, map, first, head, CopyBarrier(copy, values), kCopyBytes);
  }
  // Starts the group's share of the first round's copies, except the first: keys 1, values 0, keys 2, values 1 and so on.
  __device__ __forceinline__ void OrderShare(const TensorMap* K_map, const TensorMap* V_map) const {
    if (threadIdx.x % 128 == 0) {
#pragma unroll 1
      for (int i = Group() == 0 ? GROUPS : Group(); i <= 2 * kCopies; i += GROUPS) {
        if (i % 2 == 0) {
          OrderCopy(V_map, 0, i / 2 - 1, 1);
        } else if (i / 2 + 1 < kCopies) {
          OrderCopy(K_map, 0, i / 2 + 1, 0);
        }
      }
    }
    __syncwarp();
  }
};

// Divides by the weights and stores `kOctets` of 8 columns. Each lane stores 16 bytes at a time.
template <int kOctets>
__device__ __forceinline__ void StoreRows(const float (&sums)[kOctets * 4], const float (&shares)[2], half* out, int valid) {
  const int lane = threadIdx.x % 32;
  const int quad = lane % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * r;
#pragma unroll
    for (int c = 0; c < kOctets / 4; ++c) {
      unsigned pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = (c * 4 + j) * 4 + 2 * r;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pairs[j]) : "f"(sums[i + 1] * shares[r]), "f"(sums[i] * shares[r]));
      }
      TradePairs(pairs);
      if (row < valid) {
        *reinterpret_cast<uint4*>(out + static_cast<long long>(row) * HEAD_DIM + c * 32 + quad * 8) =
            make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      }
    }
  }
}

// The groups start their products alternately. Otherwise all would wait for the tensor cores at the same time, and then all would compute
// powers of two at the same time. A group without products takes its turns too.
struct Turns {
  int group, left;
  __device__ __forceinline__ void Begin() const {
    if (PING_PONG) SyncWarps(1 + group, 256);
  }
  __device__ __forceinline__ void End() {
    --left;
    if (PING_PONG && (left > 0 || group + 1 < GROUPS)) ArriveWarps(1 + (group + 1) % GROUPS, 256);
  }
};

// A tile's part of SumSpeculatively. With `kMore` the scores of the next tile replace its own.
template <bool kMore>
__device__ __forceinline__ void AddTile(const Place& at, int t, const unsigned* held, float factor, int length, Tile& scores, float (&totals)[2][2],
                                        Rows& rows, Turns& turns) {
  const int first = at.FirstKey(t);
  if (first + kTileKeys > at.seen_by_all) Mask(scores, at.Seen(0, length) - first, at.Seen(1, length) - first);
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    scores[i] = Exp2(scores[i] * factor);
    totals[i / 2 % 2][i % 2] += scores[i];
  }
  WaitForProducts<0>();
  PinRegisters(rows.sums);
  unsigned weights[16];
  Pack(scores, weights);
  if (kMore) Wait(at.KeyBarrier(t + 1), 0);
  Wait(at.ValueBarrier(t), 0);
  turns.Begin();
  BeginProducts();
  if (kMore) StartScores(scores, at.Queries(), held, at.Keys(t + 1));
  StartSums(rows.sums, weights, at.Values(t));
  turns.End();
  if (kMore) {
    WaitForProducts<1>();
    PinRegisters(scores);
  }
}

// Sums the weights 2^(score * factor), and the values times the weights, without the largest score. So a tile depends on no other, and no
// sum is ever rescaled. All keys must be in shared memory. Afterwards OutOfBounds says whether the result may be wrong for one of the
// thread's two rows. It depends on the row's total T over n keys of the group:
// - T <= 60000: no weight was too large for a half (65504);
// - T >= n * 2^-9: small halves, which have fewer than 11 bits, are exact to 2^-25, so that n of them are exact to n * 2^-25, or 2^-16 of T.
// A NaN is out of bounds.
__device__ __forceinline__ void SumSpeculatively(const Place& at, const unsigned* held, float factor, int length, Rows& rows) {
  const int tiles = at.Tiles(0);
  Tile scores;
#pragma unroll
  for (int i = 0; i < 32; ++i) rows.sums[i] = 0.0f;
  rows.largest[0] = rows.largest[1] = 0.0f;
  float totals[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
  Turns turns{at.Group(), 1 + (at.end + KEY_GROUPS * kTileKeys - 1) / (KEY_GROUPS * kTileKeys)};
  if (PING_PONG && at.Group() == GROUPS - 1) ArriveWarps(1, 256);
  if (tiles > 0) {
    Wait(at.KeyBarrier(0), 0);
    turns.Begin();
    BeginProducts();
    StartScores(scores, at.Queries(), held, at.Keys(0));
    turns.End();
    WaitForProducts<0>();
    PinRegisters(scores);
    int t = 0;
#pragma unroll 1
    for (; t + 1 < tiles; ++t) AddTile<true>(at, t, held, factor, length, scores, totals, rows, turns);
    AddTile<false>(at, t, held, factor, length, scores, totals, rows, turns);
    WaitForProducts<0>();
    PinRegisters(rows.sums);
  }
  if (PING_PONG) {
#pragma unroll 1
    while (turns.left > 0) {
      turns.Begin();
      turns.End();
    }
  }
  rows.weights[0] = QuadSum(totals[0][0] + totals[0][1]);
  rows.weights[1] = QuadSum(totals[1][0] + totals[1][1]);
}

__device__ __forceinline__ bool OutOfBounds(const Place& at, int length, const Rows& rows) {
  bool wrong = false;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    constexpr int kTurn = KEY_GROUPS * kTileKeys;
    const int seen = at.Seen(r, length);
    const int count = seen / kTurn * kTileKeys + min(max(seen % kTurn - at.key_group * kTileKeys, 0), kTileKeys);
    wrong |= !(rows.weights[r] <= kLargestTotal && rows.weights[r] >= count * kSmallestWeight);
  }
  return wrong;
}

// The same for any scores and any number of keys, with weights relative to the largest score so far.
__device__ __forceinline__ void SumByLargest(const Place& at, const TensorMap* K_map, const TensorMap* V_map, const unsigned* held, float factor,
                                             int length, Rows& rows) {
  Tile scores;
  unsigned weights[16];
  float fade[2];
#pragma unroll
  for (int i = 0; i < 32; ++i) rows.sums[i] = 0.0f;
  rows.largest[0] = rows.largest[1] = Lowest();
  rows.weights[0] = rows.weights[1] = 0.0f;
  unsigned parity = 0;
#pragma unroll 1
  for (int round = 0; round < at.end; round += kRoundKeys) {
    const int tiles = at.Tiles(round);
    if (tiles > 0) {
      Wait(at.KeyBarrier(0), parity);
      BeginProducts();
      StartScores(scores, at.Queries(), held, at.Keys(0));
      WaitForProducts<0>();
      PinRegisters(scores);
#pragma unroll 1
      for (int t = 0; t < tiles; ++t) {
        const int first = round + at.FirstKey(t);
        if (first + kTileKeys > at.seen_by_all) Mask(scores, at.Seen(0, length) - first, at.Seen(1, length) - first);
        ScoresToWeights(scores, factor, rows, fade);
        WaitForProducts<0>();
        PinRegisters(rows.sums);
        if (!LAZY_RESCALE || __any_sync(0xffffffffu, fade[0] != 1.0f || fade[1] != 1.0f)) {
#pragma unroll
          for (int i = 0; i < 32; ++i) rows.sums[i] *= fade[i / 2 % 2];
        }
        Pack(scores, weights);
        // The next scores come first, so that they are complete while the sums of this tile are still computed.
        if (t + 1 < tiles) {
          Wait(at.KeyBarrier(t + 1), parity);
          BeginProducts();
          StartScores(scores, at.Queries(), held, at.Keys(t + 1));
          Wait(at.ValueBarrier(t), parity);
          BeginProducts();
          StartSums(rows.sums, weights, at.Values(t));
          WaitForProducts<1>();
          PinRegisters(scores);
        } else {
          Wait(at.ValueBarrier(t), parity);
          BeginProducts();
          StartSums(rows.sums, weights, at.Values(t));
        }
      }
      WaitForProducts<0>();
      PinRegisters(rows.sums);
    }
    if (round + kRoundKeys < at.end) {
      __syncthreads();   // no thread reads these keys and values any more
      if (threadIdx.x == 0) {
#pragma unroll 1
        for (int i = 0; i < 2 * kCopies; ++i) at.OrderCopy(i % 2 == 0 ? K_map : V_map, round + kRoundKeys, i / 2, i % 2);
      }
    }
    parity ^= 1;
  }
  rows.weights[0] = QuadSum(rows.weights[0]);
  rows.weights[1] = QuadSum(rows.weights[1]);
}

constexpr int kOctets = 8 / KEY_GROUPS;   // octets of 8 columns that a key group combines

// Writes what the other key group of the same rows needs: sums for its columns and the state of the rows.
__device__ __forceinline__ void Give(const Place& at, const Rows& rows, float factor) {
  if (KEY_GROUPS == 1) return;
  float4* to = at.Partial(at.key_group);
#pragma unroll
  for (int o = 0; o < 4; ++o) {
    float give[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) give[e] = at.key_group == 0 ? rows.sums[16 + o * 4 + e] : rows.sums[o * 4 + e];
    to[o * 128] = make_float4(give[0], give[1], give[2], give[3]);
  }
  to[4 * 128] = make_float4(rows.largest[0] * factor, rows.weights[0], rows.largest[1] * factor, rows.weights[1]);
}

// Combines the group's columns and gives their factors. To be called after Give and a barrier.
__device__ __forceinline__ void Take(const Place& at, const Rows& rows, float factor, float (&out)[kOctets * 4], float (&shares)[2]) {
  if (KEY_GROUPS == 1) {
#pragma unroll
    for (int i = 0; i < kOctets * 4; ++i) out[i] = rows.sums[i];
    shares[0] = __fdividef(1.0f, rows.weights[0]);
    shares[1] = __fdividef(1.0f, rows.weights[1]);
    return;
  }
  const float4* from = at.Partial(1 - at.key_group);
  const float4 state = from[4 * 128];
  const float other_most[2] = {state.x, state.z};
  const float other_total[2] = {state.y, state.w};
  float own_share[2];
  float other_share[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float own = rows.largest[r] * factor;
    const float most = fmaxf(own, other_most[r]);
    own_share[r] = Exp2(own - most);
    other_share[r] = Exp2(other_most[r] - most);
    shares[r] = __fdividef(1.0f, fmaf(own_share[r], rows.weights[r], other_share[r] * other_total[r]));
  }
#pragma unroll
  for (int o = 0; o < kOctets; ++o) {
    const float4 part = from[o * 128];
    const float parts[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = o * 4 + e;
      const float own = at.key_group == 0 ? rows.sums[i] : rows.sums[(16 + i) % 32];
      out[i] = fmaf(other_share[e / 2], parts[e], own * own_share[e / 2]);
    }
  }
}

__global__ void __launch_bounds__(128 * GROUPS, 1)
    attention_wgmma_short(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, half* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  const float factor = scale * kLog2E;
  unsigned held[16];
  Rows rows;
  bool right = false;
  {
    const Place at(length);
    // Preparing a barrier takes some 60 clocks, and starting a copy 90. So each warp prepares one or two barriers, then one thread starts
    // the copies that are needed first, and one thread of each group starts a share of the others, in the order of need.
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int i = warp; i < 2 * kCopies; i += 4 * GROUPS) InitBarrier(at.CopyBarrier(i, 0));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");   // the copy engine sees them too
      if (warp == 0) {
        Expect(at.CopyBarrier(0, 0), ROW_GROUPS * kQueryBytes + kCopyBytes);
        CopyBox(at.shared, &Q_map, 0, at.group_row, at.head, at.CopyBarrier(0, 0));
        CopyBox(at.shared + kKeys, &K_map, 0, 0, at.head, at.CopyBarrier(0, 0));
      }
    }
    __syncthreads();
    at.OrderShare(&K_map, &V_map);
    Wait(at.CopyBarrier(0, 0), 0);
    if (QUERY_REGISTERS) LoadQueries(at.Queries(), held);
    if (SPECULATE && at.end <= kRoundKeys) {
      SumSpeculatively(at, held, factor, length, rows);
      const Place again(length);
      const bool wrong = OutOfBounds(again, length, rows);
      Give(again, rows, factor);
      right = !__syncthreads_or(wrong);
    }
  }
  if (!right) {
    const Place at(length);
    SumByLargest(at, &K_map, &V_map, held, factor, length, rows);
    Give(at, rows, factor);
    __syncthreads();
  }
  const Place at(length);
  float out[kOctets * 4];
  float shares[2];
  Take(at, rows, factor, out, shares);
  half* to = O + (static_cast<long long>(at.head) * length + at.group_row) * HEAD_DIM + at.key_group * kOctets * 8;
  StoreRows<kOctets>(out, shares, to, length - at.group_row);
}
