// Attention for Hopper and small grids: a block has few query rows, its warp groups split the keys, and all keys and values are on their
// way at once. The products are computed transposed, scores as keys times queries and sums as columns of the values times queries, so that
// the 64 rows that a warp group's product always has are never padding. Weights go through shared memory, from the warps of a group to its
// own product. They are tried without the largest scores first: see SPECULATE.
// evo:param BLOCK_Q 16 32
// evo:param GROUPS 1 2 4
// evo:param TILES 1 2 4 8
// evo:param SPECULATE 0 1
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint GROUPS * 8 <= BLOCK_Q && BLOCK_Q * TILES <= 256 && BLOCK_Q * TILES * GROUPS <= 512
// evo:constraint GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 292 + BLOCK_Q * 128 + 2048 <= 232448
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, BLOCK_Q, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:launch attention_wgmma_split(Q_map, K_map, V_map, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_Q), H, B) block(128 * GROUPS) \
//   shared(GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 292 + BLOCK_Q * 128 + 2048)
#include <cuda_fp16.h>
#pragma nv_hdrstop

// Query rows of a block.
#ifndef BLOCK_Q
#define BLOCK_Q 16
#endif

// Warp groups. They take turns in the tiles of keys.
#ifndef GROUPS
#define GROUPS 2
#endif

// Tiles of 64 keys that a group takes at a time.
#ifndef TILES
#define TILES 4
#endif

// Whether weights are tried relative to zero first, as powers of two of the scores themselves: nobody waits for the largest score then. The
// total of a query's weights tells whether that was right. Each weight is below the total, so none overflowed a half if the total did not;
// and what a half loses of small ones, 2^-25 each, is nothing beside a total above 2^-9 for each key. If a query of the block fails, the
// block starts again with the largest scores, and takes nearly twice as long: where scores are often beyond 15 powers of two, 0 is faster.
#ifndef SPECULATE
#define SPECULATE 1
#endif

// Whether a query sees only the keys up to its own place.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row; another size of the task is refused.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

constexpr int kTileKeys = 64;
constexpr int kRoundTiles = GROUPS * TILES;
constexpr int kRoundKeys = kRoundTiles * kTileKeys;
constexpr int kWarps = 4 * GROUPS;
constexpr int kThreads = 128 * GROUPS;
// Octets of queries: a thread has two queries of each, as columns of its scores and sums.
constexpr int kOctets = BLOCK_Q / 8;
constexpr int kGroupOctets = kOctets / GROUPS;    // that a group puts together and stores
constexpr int kColumns = BLOCK_Q / 4;             // of a thread
constexpr int kOwn = (kColumns + 7) / 8;          // columns of a thread after a reduction over the lanes that share them

// Bytes. Rows are 128 bytes everywhere: 64 columns of queries, keys and values, 64 keys of weights.
constexpr int kRowBytes = 128;
constexpr int kQueryBytes = BLOCK_Q * kRowBytes;
constexpr int kTileBytes = kTileKeys * kRowBytes;
constexpr int kWeightBytes = BLOCK_Q * kRowBytes;
// Eight rows: the swizzle repeats.
constexpr int kSwizzleBytes = 1024;

// Below every score, and finite, so that the difference of two is never NaN.
constexpr float kLowest = -1.0e30f;
// The score of a key that a query does not see: so far below that its weight is zero even where the query has seen nothing else.
constexpr float kMasked = -3.0e38f;
constexpr float kLog2E = 1.44269504f;
// Totals of weights relative to zero that are right: at least this much for each key that the query sees, and at most so much.
constexpr float kLeastOfKey = 0x1p-9f;
constexpr float kMostTotal = 60000.0f;

// What the driver calls CUtensorMap; NVRTC has no cuda.h.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

using Scores = float[TILES][BLOCK_Q / 2];
using Sums = float[BLOCK_Q / 2];
using Columns = float[kColumns];

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = kQueryBytes;
constexpr int kValues = kKeys + kRoundTiles * kTileBytes;
constexpr int kWeights = kValues + kRoundTiles * kTileBytes;
constexpr int kParts = kWeights + kRoundTiles * kWeightBytes;   // of sums: four floats, [group][octet][thread]
constexpr int kLargest = kParts + GROUPS * kOctets * 2048;       // floats, [warp][column]
constexpr int kTotalsOfWarps = kLargest + kWarps * BLOCK_Q * 4;   // floats, [warp][column]
constexpr int kTotals = kTotalsOfWarps + kWarps * BLOCK_Q * 4;    // floats, [group][column]
constexpr int kBarriers = kTotals + GROUPS * BLOCK_Q * 4;         // of the queries, the tiles of keys, those of values

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

// The tensor cores run beside the threads: a fence before the first product that takes what the threads have written, a commit
// behind the last of a batch, and a wait until at most `kLeft` batches are still running.
__device__ __forceinline__ void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

// The compiler must not move a use of sums to a place where a product is still writing them.
template <int kCount>
__device__ __forceinline__ void PinRegisters(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// How the tensor cores find rows of 128 bytes with the 128-byte swizzle.
__device__ __forceinline__ unsigned long long Descriptor(unsigned address) {
  constexpr unsigned kHigh = 1u << 30 | kSwizzleBytes >> 4;
  unsigned long long descriptor;
  asm("mov.b64 %0, {%1, %2};" : "=l"(descriptor) : "r"(1u << 16 | address >> 4), "n"(kHigh));
  return descriptor;
}

__device__ __forceinline__ unsigned SharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Barriers in shared memory, 8 bytes each, by address.
__device__ __forceinline__ void InitBarrier(unsigned barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

// Waits until the phase of this parity is complete.
__device__ __forceinline__ void Wait(unsigned barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

__device__ __forceinline__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Brings `bytes`, a box of rows from `row` of a head, to shared memory, and tells the barrier; rows past the end arrive as zeros.
__device__ __forceinline__ void Copy(unsigned to, const TensorMap* map, int row, int head, unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(0), "r"(row), "r"(head)
      : "memory");
}

// The tensor cores see what this thread wrote to shared memory.
__device__ __forceinline__ void ShowToProducts() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Waits for the other warps of the group, by a numbered barrier; 0 is __syncthreads' own.
__device__ __forceinline__ void SyncGroup(int group) { asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory"); }

__device__ __forceinline__ float Exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

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

// Reduces columns over the eight lanes that share them. Lanes trade halves of what they hold, so that in the end each has
// kOwn columns, from OwnColumn() on, complete in front.
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
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const float give = upper ? columns[i] : columns[i + count];
      const float keep = upper ? columns[i + count] : columns[i];
      columns[i] = Operation::Of(keep, __shfl_xor_sync(0xffffffffu, give, step));
    }
  }
}

// Place of the thread's first own column among the block's, which are ordered by the four lanes of a row, then as in a thread.
__device__ __forceinline__ int OwnColumn() {
  const int lane = threadIdx.x % 32;
  return lane % 4 * kColumns + (lane >> 4) * (kColumns / 2) + (lane >> 3 & 1) * (kColumns / 4) + (lane >> 2 & 1) * (kColumns / 8);
}

// Where things are.
struct Place {
  unsigned shared;   // address
  int head, block_row, length, end;
  // Tiles of a round, the keys' and then the values'.
  __device__ __forceinline__ unsigned Tile(int tile) const { return shared + kKeys + tile * kTileBytes; }
  __device__ __forceinline__ unsigned TileBarrier(int tile) const { return shared + kBarriers + 8 + tile * 8; }
  __device__ __forceinline__ unsigned Weights(int tile) const { return shared + kWeights + tile * kWeightBytes; }
  __device__ __forceinline__ unsigned QueryBarrier() const { return shared + kBarriers; }
};

// One thread of a warp: orders the copies of the warp's tiles of a round; of tiles that no query of the block sees only the barriers are
// told. Loops stay loops here: instructions that run once take longer to fetch than to run.
__device__ __forceinline__ void CopyTiles(const Place& at, const TensorMap* keys, const TensorMap* values, int round, int first, int end) {
#pragma unroll 1
  for (int i = first; i < end; i += kWarps) {
    const int key = round + (i < kRoundTiles ? i : i - kRoundTiles) * kTileKeys;
    if (key < at.end) {
      Copy(at.Tile(i), i < kRoundTiles ? keys : values, key, at.head, at.TileBarrier(i), kTileBytes);
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

// Takes out the keys that a query must not see. In a tile a thread has the keys lane / 4 and lane / 4 + 8 of its warp's 16.
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

// Reduces the warp's part of columns and leaves it for the others.
template <typename Operation>
__device__ __forceinline__ void LeaveColumns(Columns& columns, float* shared) {
  ReduceColumns<Operation>(columns);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[threadIdx.x / 32 * BLOCK_Q + OwnColumn() + i] = columns[i];
}
// Column lane % BLOCK_Q of what `count` warps or groups left.
template <typename Operation, int kCount>
__device__ __forceinline__ float TakeColumn(const float* shared) {
  const float* from = shared + threadIdx.x % 32 % BLOCK_Q;
  float result = from[0];
#pragma unroll
  for (int w = 1; w < kCount; ++w) result = Operation::Of(result, from[w * BLOCK_Q]);
  return result;
}
// The thread's columns, of which lane i of the warp has number i.
__device__ __forceinline__ void SpreadColumns(float column, Columns& columns) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) columns[i] = __shfl_sync(0xffffffffu, column, threadIdx.x % 4 * kColumns + i);
}

// Divides sums by weights and stores an octet of queries. Rows of an accumulator are columns of the values, lane / 4 and 8 more, and
// its columns are queries: transposed as halves, then traded with the lane beside for 8 bytes. `out` is the octet's first row.
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

// Waits until at most so many batches of products are still running: only a constant will do.
__device__ __forceinline__ void WaitForAllBut(int left) {
  if (left == 0) {
    WaitForProducts<0>();
  } else if (left == 1) {
    WaitForProducts<1>();
  } else {
    WaitForProducts<2>();
  }
}

// A group's way through the keys.
struct Walk {
  Place at;
  int warp, group;
  int first_masked;   // tiles that end behind this key have some that a query must not see
  float factor;       // of scores in powers of two
  int loads;          // rounds whose copies were ordered so far
};

// Orders the copies of a round, unless they are there from the start or from the round before.
__device__ __forceinline__ void Fetch(Walk& walk, const TensorMap* keys, const TensorMap* values, int round) {
  if (walk.at.end <= kRoundKeys || (round == 0 && walk.loads == 1)) return;
  __syncthreads();
  ++walk.loads;
  if (threadIdx.x % 32 == 0) CopyTiles(walk.at, keys, values, round, walk.warp, 2 * kRoundTiles);
  __syncwarp();
}

// The largest score of each of the thread's columns, of all keys, as a power of two.
__device__ __forceinline__ void FindLargest(Walk& walk, const TensorMap* keys, const TensorMap* values, float* shared, Columns& shift) {
  const Place& at = walk.at;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) shift[i] = kLowest;
#pragma unroll 1
  for (int round = 0; round < at.end; round += kRoundKeys) {
    Fetch(walk, keys, values, round);
#pragma unroll 1
    for (int tile = walk.group; tile < kRoundTiles && round + tile * kTileKeys < at.end; tile += GROUPS) {
      float scores[BLOCK_Q / 2];
      Wait(at.TileBarrier(tile), (walk.loads - 1) % 2);
      Wait(at.TileBarrier(kRoundTiles + tile), (walk.loads - 1) % 2);   // values, too: their barrier is told of the next ones soon
      BeginProducts();
      StartScores(scores, at.Tile(tile), at.shared);
      WaitForProducts<0>();
      PinRegisters(scores);
      MaskTile(scores, round + tile * kTileKeys, at.block_row, at.length);
      AddLargest(scores, shift);
    }
  }
  LeaveColumns<Larger>(shift, shared);
  __syncthreads();
  SpreadColumns(TakeColumn<Larger, kWarps>(shared) * walk.factor, shift);
}

// Adds the weights of the group's tiles of a round to the columns' totals, and the values by weight to the sums. Those may still be on
// their way. In place of a tile that nobody sees stands the first one, with weights of zero: whatever lies in its own place might be NaN.
__device__ __forceinline__ void AddTiles(const Walk& walk, int round, const Columns& shift, Columns& total, Sums& sums) {
  const Place& at = walk.at;
  const int parity = (walk.loads - 1) % 2;
  Scores scores;
#pragma unroll
  for (int t = 0; t <= TILES; ++t) {
    if (t < TILES) {
      const int tile = t * GROUPS + walk.group;
      const int seen = round + tile * kTileKeys < at.end ? tile : 0;
      Wait(at.TileBarrier(seen), parity);
      BeginProducts();
      StartScores(scores[t], at.Tile(seen), at.shared);
    }
    if (t == 0) continue;
    WaitForAllBut((t > 1) + (t < TILES));
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
    SyncGroup(walk.group);
    const int seen = round + tile * kTileKeys < at.end ? tile : 0;
    Wait(at.TileBarrier(kRoundTiles + seen), parity);
    BeginProducts();
    StartSums(sums, at.Tile(kRoundTiles + seen), at.Weights(tile));
  }
}

// Leaves the octets of sums that other groups put together.
__device__ __forceinline__ void LeaveParts(const Sums& sums, float4* parts, int group) {
#pragma unroll
  for (int j = 0; j < kOctets; ++j) {
    if (j / kGroupOctets != group) {
      parts[(group * kOctets + j) * 128 + threadIdx.x % 128] = make_float4(sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]);
    }
  }
}

// Puts the group's own octets together and stores them. Lane i has the inverse of the total of column i.
__device__ __forceinline__ void StoreOctets(const Sums& sums, const float4* parts, int group, float inverse, half* out, int valid) {
#pragma unroll
  for (int o = 0; o < kGroupOctets; ++o) {
    const int octet = group * kGroupOctets + o;
    float sum[4] = {};
#pragma unroll
    for (int j = 0; j < kOctets; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] = j == octet ? sums[4 * j + e] : sum[e];
    }
#pragma unroll
    for (int i = 1; i < GROUPS; ++i) {
      const float4 part = parts[((group + i) % GROUPS * kOctets + octet) * 128 + threadIdx.x % 128];
      sum[0] += part.x;
      sum[1] += part.y;
      sum[2] += part.z;
      sum[3] += part.w;
    }
    const int column = threadIdx.x % 4 * kColumns + 2 * octet;
    const float of_octet[2] = {__shfl_sync(0xffffffffu, inverse, column), __shfl_sync(0xffffffffu, inverse, column + 1)};
    StoreOctet(sum, of_octet, out + octet * 8 * HEAD_DIM, valid - octet * 8);
  }
}

// Whether weights relative to zero were right for the query of column lane % BLOCK_Q, which has this total. NaN is not.
__device__ __forceinline__ bool Holds(float total, const Place& at) {
  const int column = threadIdx.x % 32 % BLOCK_Q;
  const int query = at.block_row + column % kColumns / 2 * 8 + column / kColumns * 2 + column % 2;
  return total >= kLeastOfKey * (CAUSAL ? min(at.length, query + 1) : at.length) && total <= kMostTotal;
}

__global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma_split(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, half* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const unsigned begin = SharedAddress(shared_memory);
  const unsigned skip = (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
  char* shared = reinterpret_cast<char*>(shared_memory) + skip;
  Walk walk;
  Place& at = walk.at;
  at.shared = begin + skip;
  at.head = blockIdx.z * gridDim.y + blockIdx.y;
  at.block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_Q;
  at.length = length;
  at.end = CAUSAL ? min(length, at.block_row + BLOCK_Q) : length;   // keys that some query of the block sees
  // The same for all threads of a warp, which the compiler cannot see of threadIdx: it keeps addresses in uniform registers then.
  walk.warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
  walk.group = walk.warp / 4;
  walk.first_masked = CAUSAL ? min(length, at.block_row + 1) : length;
  walk.factor = scale * kLog2E;
  walk.loads = 1;

  // Each warp prepares the barriers of its own copies and orders them at once: one thread would take as long as the copies themselves.
  if (threadIdx.x % 32 == 0) {
#pragma unroll 1
    for (int i = walk.warp; i < 2 * kRoundTiles; i += kWarps) InitBarrier(at.TileBarrier(i));
    if (walk.warp == kWarps - 1) InitBarrier(at.QueryBarrier());
    ShowToProducts();
    if (walk.warp == kWarps - 1) Copy(at.shared, &Q_map, at.block_row, at.head, at.QueryBarrier(), kQueryBytes);
    CopyTiles(at, &K_map, &V_map, 0, walk.warp, kRoundTiles);
  }
  __syncwarp();
  __syncthreads();
  // Values are not to hold up the keys.
  if (threadIdx.x % 32 == 0) CopyTiles(at, &K_map, &V_map, 0, kRoundTiles + (walk.warp + kRoundTiles) % kWarps, 2 * kRoundTiles);
  __syncwarp();
  Wait(at.QueryBarrier(), 0);

  float* of_warps = reinterpret_cast<float*>(shared + kTotalsOfWarps);
  float* of_groups = reinterpret_cast<float*>(shared + kTotals);
  float4* parts = reinterpret_cast<float4*>(shared + kParts);
  Columns shift = {};
  Sums sums;
  float column;   // total of column lane % BLOCK_Q
#pragma unroll 1
  for (int tried = 1 - SPECULATE;; tried = 1) {
    if (tried != 0) FindLargest(walk, &K_map, &V_map, reinterpret_cast<float*>(shared + kLargest), shift);
    Columns total = {};
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 2; ++i) sums[i] = 0.0f;
#pragma unroll 1
    for (int round = 0; round < at.end; round += kRoundKeys) {
      Fetch(walk, &K_map, &V_map, round);
      AddTiles(walk, round, shift, total, sums);
      if (round + kRoundKeys >= at.end) {   // while the last products run
        LeaveColumns<Sum>(total, of_warps);
        SyncGroup(walk.group);
        if (walk.warp % 4 == 0 && threadIdx.x % 32 < BLOCK_Q) {
          of_groups[walk.group * BLOCK_Q + threadIdx.x % 32] = TakeColumn<Sum, 4>(of_warps + walk.warp * BLOCK_Q);
        }
      }
      WaitForProducts<0>();
      PinRegisters(sums);
    }
    LeaveParts(sums, parts, walk.group);
    __syncthreads();
    column = TakeColumn<Sum, GROUPS>(of_groups);
    if (tried != 0 || __all_sync(0xffffffffu, Holds(column, at))) break;
  }
  StoreOctets(sums, parts, walk.group, __fdividef(1.0f, column), O + (static_cast<long long>(at.head) * length + at.block_row) * HEAD_DIM,
              length - at.block_row);
}
