// Attention for Hopper and small grids: a block has few query rows, its warp groups split the keys, and all keys and values are copied at
// once. The products are transposed, scores as keys times queries and sums as columns of the values times weights, so that the 64 rows that
// a warp group's product always has are never padding. The weights go through shared memory to one more group, which sums the values of all
// groups, so that nothing has to be combined at the end. The block first tries it without the largest scores: see SPECULATE.
// evo:param BLOCK_Q 16 32
// evo:param GROUPS 1 2 4
// evo:param TILES 1 2 4 8
// evo:param SPECULATE 0 1
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint BLOCK_Q * TILES <= 256 && BLOCK_Q * TILES * GROUPS <= 512
// evo:constraint GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 32 + BLOCK_Q * 128 + 2048 <= 232448
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, BLOCK_Q, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:launch attention_wgmma_split(Q_map, K_map, V_map, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_Q), H * B) block(128 * GROUPS + 128) \
//   shared(GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 32 + BLOCK_Q * 128 + 2048)
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_Q
#define BLOCK_Q 32
#endif

// Warp groups that compute weights. Neighbouring tiles of keys belong to different groups.
#ifndef GROUPS
#define GROUPS 2
#endif

// Tiles of 64 keys that a group processes at a time.
#ifndef TILES
#define TILES 4
#endif

// Whether weights are first computed relative to zero, as powers of two of the scores, so that no thread waits for the largest score. The
// total of a query's weights shows whether that was right. Each weight is less than the total, so none overflowed a half if the total did
// not; and a half loses at most 2^-25 of a small weight, which is negligible if the total is over 2^-9 for each key. If it fails for a query,
// the block starts again with the largest scores and takes nearly twice as long: where scores often exceed 15 powers of two, 0 is faster.
#ifndef SPECULATE
#define SPECULATE 1
#endif

// Whether a query sees only the keys up to its own position.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row. The kernel returns at once if the task has another size.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

#include "wgmma_tiles.cuh"

constexpr int kRoundTiles = GROUPS * TILES;
constexpr int kRoundKeys = kRoundTiles * kTileKeys;
constexpr int kWarps = 4 * GROUPS;   // that compute weights
constexpr int kThreads = 128 * (GROUPS + 1);
constexpr int kAllWarps = kThreads / 32;
// Octets of queries: a thread has two queries of each, as columns of its scores and sums.
constexpr int kOctets = BLOCK_Q / 8;
constexpr int kColumns = BLOCK_Q / 4;             // of a thread
constexpr int kOwn = (kColumns + 7) / 8;          // columns that a thread keeps after a reduction over the lanes that share them

// Bytes.
constexpr int kQueryBytes = BLOCK_Q * kRowBytes;
constexpr int kTileBytes = kTileKeys * kRowBytes;
constexpr int kWeightBytes = BLOCK_Q * kRowBytes;

// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -1.0e30f;
// The score of a key that a query does not see. It is so low that the weight is zero even where the query has seen no other key.
constexpr float kMasked = -3.0e38f;
// The totals of weights relative to zero that are right: at least kLeastOfKey for each key that the query sees, and at most kMostTotal.
constexpr float kLeastOfKey = 0x1p-9f;
constexpr float kMostTotal = 60000.0f;

using Scores = float[TILES][BLOCK_Q / 2];
using Sums = float[BLOCK_Q / 2];
using Columns = float[kColumns];

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = kQueryBytes;
constexpr int kValues = kKeys + kRoundTiles * kTileBytes;
constexpr int kWeights = kValues + kRoundTiles * kTileBytes;
constexpr int kLargest = kWeights + kRoundTiles * kWeightBytes;   // floats, [warp][column]
constexpr int kTotals = kLargest + kWarps * BLOCK_Q * 4;          // floats, [warp][column]
constexpr int kBarriers = kTotals + kWarps * BLOCK_Q * 4;         // of the queries, the tiles of keys, those of values

#define OPERANDS_AT(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_8(d) OPERANDS_AT(d, 0)
#define OPERANDS_16(d) OPERANDS_8(d), OPERANDS_AT(d, 8)
#define NAMES_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define NAMES_16 NAMES_8 ",%8,%9,%10,%11,%12,%13,%14,%15"

// d (+)= a * b for 64 rows, `columns` columns and 16 terms, both by descriptor; kTransposed: the rows of a, not the terms, are neighbours.
#define DEFINE_PRODUCT(columns, sums, n0, n1, n2, n3)                                                                           \
  template <int kTransposed>                                                                                                    \
  __device__ __forceinline__ void Multiply(float (&d)[sums], unsigned long long a, unsigned long long b, int add) {             \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n2 ", 0;\n"                                                              \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" NAMES_##sums "}, %" #n0 ", %" #n1             \
                 ", p, 1, 1, %" #n3 ", 0;\n}"                                                                                   \
                 : OPERANDS_##sums(d)                                                                                           \
                 : "l"(a), "l"(b), "r"(add), "n"(kTransposed));                                                                 \
  }
DEFINE_PRODUCT(16, 8, 8, 9, 10, 11)
DEFINE_PRODUCT(32, 16, 16, 17, 18, 19)

__device__ __forceinline__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Makes what this thread wrote to shared memory visible to the tensor cores.
__device__ __forceinline__ void ShowToProducts() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Barriers by number; 0 belongs to __syncthreads, and those from 1 on to the tiles' weights. In one try the program waits at a barrier of
// all threads in one place only and arrives in the others, because synccheck takes two places for a divergent block.
constexpr int kMaxima = 12;      // the largest scores are there
constexpr int kAdded = 13;       // the totals are there
constexpr int kRoundDone = 15;   // no thread reads the round's keys any more
template <int kCount>
__device__ __forceinline__ void SyncWarps(int barrier) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kCount) : "memory"); }
template <int kCount>
__device__ __forceinline__ void ArriveWarps(int barrier) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kCount) : "memory"); }

__device__ __forceinline__ unsigned Pack(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

struct Larger {
  static __device__ __forceinline__ float Of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  static __device__ __forceinline__ float Of(float a, float b) { return a + b; }
};

// Reduces columns over the eight lanes that share them. Lanes exchange halves of their columns, so that in the end each has kOwn complete
// columns, from OwnColumn() on, at the front.
template <typename Operation>
__device__ __forceinline__ void ReduceColumns(Columns& columns) {
  int count = kColumns;
#pragma unroll
  for (int step = 16; step >= 4; step /= 2) {
    const bool upper = (threadIdx.x & step) != 0;
    if (count == 1) {
      columns[0] = Operation::Of(columns[0], __shfl_xor_sync(0xffffffffu, columns[0], step));
      continue;
    }
    count /= 2;
    for (int i = 0; i < count; ++i) {
      const float give = upper ? columns[i] : columns[i + count];
      const float keep = upper ? columns[i + count] : columns[i];
      columns[i] = Operation::Of(keep, __shfl_xor_sync(0xffffffffu, give, step));
    }
  }
}

// Index of the thread's first own column among the block's, which are ordered by the four lanes of a row, then as in a thread.
__device__ __forceinline__ int OwnColumn() {
  const int lane = threadIdx.x % 32;
  return lane % 4 * kColumns + (lane >> 4) * (kColumns / 2) + (lane >> 3 & 1) * (kColumns / 4) + (lane >> 2 & 1) * (kColumns / 8);
}

// The block's share of the work and its shared memory.
struct Place {
  unsigned shared;   // address
  int head, block_row, length, end;
  // Tiles of a round, the keys' and then the values'.
  __device__ __forceinline__ unsigned Tile(int tile) const { return shared + kKeys + tile * kTileBytes; }
  __device__ __forceinline__ unsigned TileBarrier(int tile) const { return shared + kBarriers + 8 + tile * 8; }
  __device__ __forceinline__ unsigned Weights(int tile) const { return shared + kWeights + tile * kWeightBytes; }
  __device__ __forceinline__ unsigned QueryBarrier() const { return shared + kBarriers; }
};

// Run by one thread: starts the copies of the tiles `first`, `first` + `step` and so on before `end`. For tiles from key `key_end` on it only
// arrives at their barriers. The loop is not unrolled, because instructions that run once take longer to fetch than to run.
__device__ __forceinline__ void CopyTiles(const Place& at, const TensorMap* map, int round, int key_end, int first, int end, int step) {
#pragma unroll 1
  for (int i = first; i < end; i += step) {
    const int key = round + i % kRoundTiles * kTileKeys;
    if (key < key_end) {
      Copy(at.Tile(i), map, key, at.head, at.TileBarrier(i), kTileBytes);
    } else {
      Arrive(at.TileBarrier(i));
    }
  }
}

// Starts the scores of a tile: 64 keys times the block's queries.
__device__ __forceinline__ void StartScores(float (&scores)[BLOCK_Q / 2], unsigned keys, unsigned queries) {
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) Multiply<0>(scores, Descriptor(keys + k * 32), Descriptor(queries + k * 32), k > 0);
  CommitProducts();
}

// Starts sums += transposed values times weights, for a tile.
__device__ __forceinline__ void StartSums(Sums& sums, unsigned values, unsigned weights) {
#pragma unroll
  for (int k = 0; k < kTileKeys / 16; ++k) {
    Multiply<1>(sums, Descriptor(values + k * 16 * kRowBytes), Descriptor(weights + k * 32), 1);
  }
  CommitProducts();
}

// Masks the keys that a query must not see. In a tile a thread has the keys lane / 4 and lane / 4 + 8 of its warp's 16.
__device__ __forceinline__ void MaskTile(float (&scores)[BLOCK_Q / 2], int first_key, int block_row, int length) {
  const int lane = threadIdx.x % 32;
  const int key = first_key + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
  for (int i = 0; i < BLOCK_Q / 2; ++i) {
    const int query = block_row + i / 4 * 8 + lane % 4 * 2 + i % 2;
    if (key + i / 2 % 2 * 8 >= (CAUSAL ? min(length, query + 1) : length)) scores[i] = kMasked;
  }
}

// Writes the weights of a tile, as halves, transposed: a row for each query.
__device__ __forceinline__ void StoreWeights(const float (&scores)[BLOCK_Q / 2], unsigned to) {
  const int lane = threadIdx.x % 32;
  const int chunk = threadIdx.x % 128 / 32 * 2 + lane / 8 % 2;
  const unsigned row = to + (lane / 16 * 8 + lane % 8) * kRowBytes + (chunk ^ lane % 8) * 16;
#pragma unroll
  for (int j = 0; j < kOctets; j += 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row + j * 8 * kRowBytes),
                 "r"(Pack(scores[4 * j], scores[4 * j + 1])), "r"(Pack(scores[4 * j + 2], scores[4 * j + 3])),
                 "r"(Pack(scores[4 * j + 4], scores[4 * j + 5])), "r"(Pack(scores[4 * j + 6], scores[4 * j + 7]))
                 : "memory");
  }
}

// Reduces the warp's part of columns and writes it for the other warps.
template <typename Operation>
__device__ __forceinline__ void LeaveColumns(Columns& columns, float* shared) {
  ReduceColumns<Operation>(columns);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[threadIdx.x / 32 * BLOCK_Q + OwnColumn() + i] = columns[i];
}
// Column lane % BLOCK_Q, reduced over what all warps wrote.
template <typename Operation>
__device__ __forceinline__ float TakeColumn(const float* shared) {
  const float* from = shared + threadIdx.x % 32 % BLOCK_Q;
  float result = from[0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) result = Operation::Of(result, from[w * BLOCK_Q]);
  return result;
}
// The thread's columns, of which lane i of the warp has number i.
__device__ __forceinline__ void SpreadColumns(float column, Columns& columns) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) columns[i] = __shfl_sync(0xffffffffu, column, threadIdx.x % 4 * kColumns + i);
}

// Divides sums by weights and stores an octet of queries. Rows of an accumulator are columns of the values, lane / 4 and 8 more, and
// its columns are queries: transposed as halves, then exchanged with the neighbouring lane for 8 bytes. `out` is the octet's first row.
__device__ __forceinline__ void StoreOctet(const float (&sums)[4], const float (&inverse)[2], half* out, int valid) {
  const int lane = threadIdx.x % 32;
  unsigned pairs[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const unsigned pair = Pack(sums[2 * r] * inverse[0], sums[2 * r + 1] * inverse[1]);
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(pairs[r]) : "r"(pair));
  }
  const bool odd = lane % 2 != 0;
  const unsigned traded = __shfl_xor_sync(0xffffffffu, odd ? pairs[0] : pairs[1], 1);
  const uint2 four = odd ? make_uint2(traded, pairs[1]) : make_uint2(pairs[0], traded);
  if (lane / 4 < valid) {
    *reinterpret_cast<uint2*>(out + lane / 4 * HEAD_DIM + threadIdx.x % 128 / 32 * 16 + lane % 2 * 8 + lane / 2 % 2 * 4) = four;
  }
}

// Adds the largest scores of a tile to the thread's columns.
__device__ __forceinline__ void AddLargest(const float (&scores)[BLOCK_Q / 2], Columns& most) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int j = i / 2 * 4 + i % 2;
    most[i] = fmaxf(most[i], fmaxf(scores[j], scores[j + 2]));
  }
}

// Waits until at most one of the tiles' products, or none if `last`, is still running. The wait takes only a constant.
__device__ __forceinline__ void WaitForTile(bool last) {
  if (last) {
    WaitForProducts<0>();
  } else {
    WaitForProducts<1>();
  }
}

// How a group goes through the keys.
struct Walk {
  Place at;
  int warp, group;
  int first_masked;   // tiles that end after this key have keys that a query must not see
  float factor;       // of scores in powers of two
  int loads;          // rounds of keys whose copies were started so far
  // Whether a round's copies must still be started. Those of the first round are started at the beginning, and stay if there is no other.
  __device__ __forceinline__ bool Orders(int round) const { return at.end > kRoundKeys && (round > 0 || loads > 1); }
};

// Run by a group that computes weights: makes room for the keys of a round.
__device__ __forceinline__ void LeaveRound(Walk& walk, int round) {
  if (!walk.Orders(round)) return;
  ArriveWarps<kThreads>(kRoundDone);
  ++walk.loads;
}

// The largest score of each of the thread's columns, of all keys, as a power of two.
__device__ __forceinline__ void FindLargest(Walk& walk, float* shared, Columns& shift) {
  const Place& at = walk.at;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) shift[i] = kLowest;
#pragma unroll 1
  for (int round = 0; round < at.end; round += kRoundKeys) {
    LeaveRound(walk, round);
#pragma unroll 1
    for (int tile = walk.group; tile < kRoundTiles; tile += GROUPS) {
      float scores[BLOCK_Q / 2];
      Wait(at.TileBarrier(tile), (walk.loads - 1) % 2);   // also for tiles that no query sees, since the next round uses their barriers again
      if (round + tile * kTileKeys >= at.end) continue;
      BeginProducts();
      StartScores(scores, at.Tile(tile), at.shared);
      WaitForProducts<0>();
      PinRegisters(scores);
      MaskTile(scores, round + tile * kTileKeys, at.block_row, at.length);
      AddLargest(scores, shift);
    }
  }
  LeaveColumns<Larger>(shift, shared);
  SyncWarps<128 * GROUPS>(kMaxima);
  SpreadColumns(TakeColumn<Larger>(shared) * walk.factor, shift);
}

// Writes the weights of the group's tiles of a round and adds them to the columns' totals. The contents of a tile that no query sees are
// masked, and its weights are not used.
__device__ __forceinline__ void WriteWeights(const Walk& walk, int round, const Columns& shift, Columns& total) {
  const Place& at = walk.at;
  Scores scores;
#pragma unroll
  for (int t = 0; t <= TILES; ++t) {
    if (t < TILES) {
      const int tile = t * GROUPS + walk.group;
      Wait(at.TileBarrier(tile), (walk.loads - 1) % 2);
      BeginProducts();
      StartScores(scores[t], at.Tile(tile), at.shared);
    }
    if (t == 0) continue;
    WaitForTile(t == TILES);
    PinRegisters(scores[t - 1]);
    const int tile = (t - 1) * GROUPS + walk.group;
    if (round + (tile + 1) * kTileKeys > walk.first_masked) MaskTile(scores[t - 1], round + tile * kTileKeys, at.block_row, at.length);
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 2; ++i) {
      const int column = i / 4 * 2 + i % 2;
      scores[t - 1][i] = Exp2(fmaf(scores[t - 1][i], walk.factor, -shift[column]));
      total[column] += scores[t - 1][i];
    }
    StoreWeights(scores[t - 1], at.Weights(tile));
    ShowToProducts();
    if (round + tile * kTileKeys < at.end) ArriveWarps<256>(1 + tile);
  }
}

// Run by the groups that compute weights: one try, relative to the largest scores or not.
template <bool kShifted>
__device__ __forceinline__ void ComputeWeights(Walk& walk, char* shared) {
  Columns shift = {};
  if (kShifted) FindLargest(walk, reinterpret_cast<float*>(shared + kLargest), shift);
  Columns total = {};
#pragma unroll 1
  for (int round = 0; round < walk.at.end; round += kRoundKeys) {
    LeaveRound(walk, round);
    WriteWeights(walk, round, shift, total);
  }
  LeaveColumns<Sum>(total, reinterpret_cast<float*>(shared + kTotals));
  __syncwarp();   // a warp arrives as one
  ArriveWarps<kThreads>(kAdded);
}

// Whether weights relative to zero were right for the query of column lane % BLOCK_Q, which has this total. NaN is not right.
__device__ __forceinline__ bool Holds(float total, const Place& at) {
  const int column = threadIdx.x % 32 % BLOCK_Q;
  const int query = at.block_row + column % kColumns / 2 * 8 + column / kColumns * 2 + column % 2;
  return total >= kLeastOfKey * (CAUSAL ? min(at.length, query + 1) : at.length) && total <= kMostTotal;
}

// Run by the group that sums the values: starts the copies of a round, keys and values or only keys, when the previous ones are not read
// any more.
__device__ __forceinline__ void OrderRound(Walk& walk, const TensorMap* keys, const TensorMap* values, int round) {
  if (!walk.Orders(round)) return;
  SyncWarps<kThreads>(kRoundDone);
  ++walk.loads;
  if (threadIdx.x % 32 == 0) {
    CopyTiles(walk.at, keys, round, walk.at.end, walk.warp % 4, kRoundTiles, 4);
    if (values != nullptr) CopyTiles(walk.at, values, round, walk.at.end, kRoundTiles + walk.warp % 4, 2 * kRoundTiles, 4);
  }
  __syncwarp();
}

// Run by the group that sums the values: one try. Gives the sums of all keys and the total of column lane % BLOCK_Q. `value_loads`: rounds
// of values whose copies were started so far; `right`: whether the sums are right.
template <bool kShifted>
__device__ __forceinline__ float AddValues(Walk& walk, const TensorMap* keys, const TensorMap* values, char* shared, int& value_loads,
                                           Sums& sums, bool& right) {
  const Place& at = walk.at;
  if (kShifted) {
    // Perhaps no thread has waited yet for all values of the first round.
#pragma unroll 1
    for (int tile = 0; tile < kRoundTiles; ++tile) Wait(at.TileBarrier(kRoundTiles + tile), (value_loads - 1) % 2);
  }
  // The other groups first go through all keys for the largest scores. One loop does both, for synccheck: see the barriers.
  bool searches = kShifted;
#pragma unroll
  for (int i = 0; i < BLOCK_Q / 2; ++i) sums[i] = 0.0f;
  float total = 0.0f;
#pragma unroll 1
  for (int round = 0; round < at.end;) {
    if (!searches && walk.Orders(round)) ++value_loads;
    OrderRound(walk, keys, searches ? nullptr : values, round);
    if (!searches) {
      int tile = 0;
#pragma unroll 1
      do {
        Wait(at.TileBarrier(kRoundTiles + tile), (value_loads - 1) % 2);
        SyncWarps<256>(1 + tile);
        BeginProducts();
        StartSums(sums, at.Tile(kRoundTiles + tile), at.Weights(tile));
      } while (++tile < kRoundTiles && round + tile * kTileKeys < at.end);
      if (round + kRoundKeys >= at.end) {   // while the last products run
        SyncWarps<kThreads>(kAdded);
        total = TakeColumn<Sum>(reinterpret_cast<float*>(shared + kTotals));
        right = kShifted || __all_sync(0xffffffffu, Holds(total, at));
      }
      WaitForProducts<0>();
      PinRegisters(sums);
    }
    round += kRoundKeys;
    if (searches && round >= at.end) {
      searches = false;
      round = 0;
    }
  }
  return total;
}

// Divides the sums by the totals, of which lane i has that of column i % BLOCK_Q, and stores them. If this was compiled for rows of another
// length, the output is not written, which every check finds.
__device__ __forceinline__ void StoreSums(const Place& at, const Sums& sums, float total, half* O, int depth) {
  if (depth != HEAD_DIM) return;
  Columns inverse;
  SpreadColumns(__fdividef(1.0f, total), inverse);
  half* out = O + (static_cast<long long>(at.head) * at.length + at.block_row) * HEAD_DIM;
#pragma unroll
  for (int j = 0; j < kOctets; ++j) {
    const float octet[4] = {sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]};
    const float of_octet[2] = {inverse[2 * j], inverse[2 * j + 1]};
    StoreOctet(octet, of_octet, out + j * 8 * HEAD_DIM, at.length - at.block_row - j * 8);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma_split(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, half* __restrict__ O, float scale, int length, int depth) {
  extern __shared__ uint4 shared_memory[];
  const unsigned begin = SharedAddress(shared_memory);
  const unsigned skip = (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
  char* shared = reinterpret_cast<char*>(shared_memory) + skip;
  Walk walk;
  Place& at = walk.at;
  at.shared = begin + skip;
  at.head = blockIdx.y;
  at.block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_Q;
  // The shuffle tells the compiler that the index is the same for all threads of a warp, so that it keeps addresses in uniform registers.
  walk.warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);

  // Each warp prepares the barriers of its own copies and starts these at once, since one thread would take as long as the copies do. Values
  // come later, so that they do not delay the keys. No parameter's value is used before, because its first use waits for memory; keys past
  // the end arrive as zeros, and the program waits for their tiles as for all others.
  if (threadIdx.x % 32 == 0) {
#pragma unroll 1
    for (int i = walk.warp; i < 2 * kRoundTiles; i += kAllWarps) InitBarrier(at.TileBarrier(i));
    if (walk.warp == kAllWarps - 1) InitBarrier(at.QueryBarrier());
    ShowToProducts();
    if (walk.warp == kAllWarps - 1) Copy(at.shared, &Q_map, at.block_row, at.head, at.QueryBarrier(), kQueryBytes);
    CopyTiles(at, &K_map, 0, CAUSAL ? at.block_row + BLOCK_Q : kRoundKeys, walk.warp, kRoundTiles, kAllWarps);
  }
  at.length = length;
  at.end = CAUSAL ? min(length, at.block_row + BLOCK_Q) : length;   // keys that some query of the block sees
  walk.group = walk.warp / 4;
  walk.first_masked = CAUSAL ? min(length, at.block_row + 1) : length;
  walk.factor = scale * kLog2E;
  walk.loads = 1;
  __syncwarp();
  __syncthreads();
  constexpr int kFree = kAllWarps - kRoundTiles % kAllWarps;
  if (threadIdx.x % 32 == 0) CopyTiles(at, &V_map, 0, at.end, kRoundTiles + (walk.warp + kFree) % kAllWarps, 2 * kRoundTiles, kAllWarps);
  __syncwarp();
  if (walk.group < GROUPS) Wait(at.QueryBarrier(), 0);
  int value_loads = 1;
  bool right = true;
#if SPECULATE
  // Written twice instead of as a loop, so that the code of the second try does not delay fetching that of the first.
  if (walk.group < GROUPS) {
    ComputeWeights<false>(walk, shared);
  } else {
    Sums sums;
    const float total = AddValues<false>(walk, &K_map, &V_map, shared, value_loads, sums, right);
    if (right) StoreSums(at, sums, total, O, depth);
  }
  if (__syncthreads_and(right)) return;
#endif
  if (walk.group < GROUPS) {
    ComputeWeights<true>(walk, shared);
  } else {
    Sums sums;
    const float total = AddValues<true>(walk, &K_map, &V_map, shared, value_loads, sums, right);
    StoreSums(at, sums, total, O, depth);
  }
}
