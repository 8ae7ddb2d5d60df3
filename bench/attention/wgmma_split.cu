// Attention for Hopper and small grids: a block has few query rows, its warp groups split the keys, and all keys and values are on their
// way at once. The products are computed transposed, scores as keys times queries and sums as columns of the values times queries, so that
// the 64 rows that a warp group's product always has are never padding. Weights go through shared memory, relative to one largest score of
// the block, and one more group adds up the values of all of them: there is nothing to put together at the end.
// evo:param BLOCK_Q 16 32
// evo:param GROUPS 1 2 4
// evo:param TILES 1 2 4 8
// evo:param BATCH 1 2 4
// evo:param CHAINS 1 2
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint BLOCK_Q * TILES <= 256 && BLOCK_Q * TILES * GROUPS <= 512 && TILES % BATCH == 0
// evo:constraint GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 48 + BLOCK_Q * 128 + 2048 <= 232448
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, BLOCK_Q, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:launch attention_wgmma_split(Q_map, K_map, V_map, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_Q), H, B) block(128 * GROUPS + 128) \
//   shared(GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 48 + BLOCK_Q * 128 + 2048)
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_Q
#define BLOCK_Q 32
#endif

// Warp groups that compute weights. They take turns in the tiles of keys.
#ifndef GROUPS
#define GROUPS 2
#endif

// Tiles of 64 keys that a group takes at a time.
#ifndef TILES
#define TILES 4
#endif

// Accumulators of the values' sums, which products of 16 keys take in turn.
#ifndef CHAINS
#define CHAINS 1
#endif

// Whether a query sees only the keys up to its own place.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row; another size of the task is refused.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

// Tiles of a group whose weights are written before the products with their values start.
#ifndef BATCH
#define BATCH 2
#endif

constexpr int kTileKeys = 64;
constexpr int kRoundTiles = GROUPS * TILES;
constexpr int kRoundKeys = kRoundTiles * kTileKeys;
constexpr int kWarps = 4 * GROUPS;   // that compute weights
constexpr int kThreads = 128 * (GROUPS + 1);
constexpr int kAllWarps = kThreads / 32;
// Octets of queries: a thread has two queries of each, as columns of its scores and sums.
constexpr int kOctets = BLOCK_Q / 8;
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

// What the driver calls CUtensorMap; NVRTC has no cuda.h.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

using Scores = float[TILES][BLOCK_Q / 2];
using Sums = float[CHAINS][BLOCK_Q / 2];
using Columns = float[kColumns];

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = kQueryBytes;
constexpr int kValues = kKeys + kRoundTiles * kTileBytes;
constexpr int kWeights = kValues + kRoundTiles * kTileBytes;
constexpr int kLargest = kWeights + kRoundTiles * kWeightBytes;   // floats, [round % 2][warp][column]
constexpr int kTotals = kLargest + 2 * kWarps * BLOCK_Q * 4;      // floats, [warp][column]
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

// Barriers of all warps, by number; 0 is __syncthreads' own, which wants all threads at one place of the program. Those that only arrive do not wait.
constexpr int kMaxima = 15;   // the largest scores are there; the others, from 1 on, are those of batches of weights
__device__ __forceinline__ void SyncWarps(int barrier) { asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory"); }
__device__ __forceinline__ void ArriveWarps(int barrier) { asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory"); }

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
  __device__ __forceinline__ unsigned Keys(int tile) const { return shared + kKeys + tile * kTileBytes; }
  __device__ __forceinline__ unsigned Values(int tile) const { return shared + kValues + tile * kTileBytes; }
  __device__ __forceinline__ unsigned Weights(int tile) const { return shared + kWeights + tile * kWeightBytes; }
  __device__ __forceinline__ unsigned QueryBarrier() const { return shared + kBarriers; }
  __device__ __forceinline__ unsigned KeyBarrier(int tile) const { return shared + kBarriers + 8 + tile * 8; }
  __device__ __forceinline__ unsigned ValueBarrier(int tile) const { return KeyBarrier(kRoundTiles + tile); }
};

// One thread: orders the copies of the tiles `first`, `first` + `step` and so on of the round's keys, or values. Tiles that no query of
// the block sees are left out. Loops stay loops here: instructions that run once take longer to fetch than to run.
__device__ __forceinline__ void CopyTiles(const Place& at, unsigned to, const TensorMap* map, int round, int first, unsigned barrier,
                                          int step = kAllWarps) {
#pragma unroll 1
  for (int i = first; i < kRoundTiles && round + i * kTileKeys < at.end; i += step) {
    Copy(to + i * kTileBytes, map, round + i * kTileKeys, at.head, barrier + i * 8, kTileBytes);
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
    Multiply<1>(sums[k % CHAINS], Descriptor(values + k * 16 * kRowBytes), Descriptor(weights + k * 32), 1);
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
// Column lane % BLOCK_Q of what all warps left.
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

// The largest score of the thread's columns, with or without what was found before.
__device__ __forceinline__ void AddLargest(const float (&scores)[BLOCK_Q / 2], bool fresh, Columns& most) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int j = i / 2 * 4 + i % 2;
    const float of_tile = fmaxf(scores[j], scores[j + 2]);
    most[i] = fresh ? of_tile : fmaxf(most[i], of_tile);
  }
}

// Waits until at most one of the tiles' products, or none, is still running: only a constant will do.
__device__ __forceinline__ void WaitForTile(bool last) {
  if (last) {
    WaitForProducts<0>();
  } else {
    WaitForProducts<1>();
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    attention_wgmma_split(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, half* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const unsigned begin = SharedAddress(shared_memory);
  const unsigned skip = (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
  char* shared = reinterpret_cast<char*>(shared_memory) + skip;
  Place at;
  at.shared = begin + skip;
  at.head = blockIdx.z * gridDim.y + blockIdx.y;
  at.block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_Q;
  at.length = length;
  at.end = CAUSAL ? min(length, at.block_row + BLOCK_Q) : length;   // keys that some query of the block sees
  // The same for all threads of a warp, which the compiler cannot see of threadIdx: it keeps addresses in uniform registers then.
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 32), 0);
  const int group = warp / 4;

  // Each warp prepares the barriers of its own copies and orders them at once: one thread would take as long as the copies themselves.
  if (threadIdx.x % 32 == 0) {
#pragma unroll 1
    for (int i = warp; i < kRoundTiles; i += kAllWarps) {
      InitBarrier(at.KeyBarrier(i));
      InitBarrier(at.ValueBarrier(i));
    }
    if (warp == kAllWarps - 1) InitBarrier(at.QueryBarrier());
    ShowToProducts();
    if (warp == kAllWarps - 1) Copy(at.shared, &Q_map, at.block_row, at.head, at.QueryBarrier(), kQueryBytes);
    CopyTiles(at, at.Keys(0), &K_map, 0, warp, at.KeyBarrier(0));
    CopyTiles(at, at.Values(0), &V_map, 0, warp, at.ValueBarrier(0));
  }
  __syncwarp();
  __syncthreads();

  float* largest = reinterpret_cast<float*>(shared + kLargest);
  float* totals = reinterpret_cast<float*>(shared + kTotals);
  const float factor = scale * kLog2E;
  if (group < GROUPS) {
    Columns total = {};
    float most = kLowest;   // of column lane % BLOCK_Q so far
    Wait(at.QueryBarrier(), 0);
#pragma unroll 1
    for (int round = 0; round < at.end; round += kRoundKeys) {
      const int parity = round / kRoundKeys % 2;
      const bool last = round + kRoundKeys >= at.end;
      Scores scores;
      Columns columns;
#pragma unroll
      for (int t = 0; t <= TILES; ++t) {
        if (t < TILES) {
          const int tile = t * GROUPS + group;
          if (round + tile * kTileKeys < at.end) Wait(at.KeyBarrier(tile), parity);
          BeginProducts();
          StartScores(scores[t], at.Keys(tile), at.shared);
        }
        if (t == 0) continue;
        WaitForTile(t == TILES);
        PinRegisters(scores[t - 1]);
        AddLargest(scores[t - 1], t == 1, columns);
      }
      if (round + kRoundKeys > (CAUSAL ? min(length, at.block_row + 1) : length)) {
#pragma unroll
        for (int t = 0; t < TILES; ++t) {
          MaskTile(scores[t], round + (t * GROUPS + group) * kTileKeys, at.block_row, length);
          AddLargest(scores[t], t == 0, columns);
        }
      }
      LeaveColumns<Larger>(columns, largest + parity * kWarps * BLOCK_Q);
      SyncWarps(kMaxima);
      // Nobody reads the keys of this round any more.
      if (!last && threadIdx.x % 32 == 0) CopyTiles(at, at.Keys(0), &K_map, round + kRoundKeys, warp, at.KeyBarrier(0), kWarps);
      const float before = most;
      most = fmaxf(before, TakeColumn<Larger>(largest + parity * kWarps * BLOCK_Q));
      Columns shift;
      SpreadColumns(most * factor, shift);
      if (round > 0) {
        SpreadColumns(Exp2((before - most) * factor), columns);
#pragma unroll
        for (int i = 0; i < kColumns; ++i) total[i] *= columns[i];
      }
#pragma unroll
      for (int b = 0; b < TILES; b += BATCH) {
#pragma unroll
        for (int t = b; t < b + BATCH; ++t) {
#pragma unroll
          for (int i = 0; i < BLOCK_Q / 2; ++i) {
            const int column = i / 4 * 2 + i % 2;
            scores[t][i] = Exp2(fmaf(scores[t][i], factor, -shift[column]));
            total[column] += scores[t][i];
          }
          StoreWeights(scores[t], at.Weights(t * GROUPS + group));
        }
        ShowToProducts();
        if (b + BATCH == TILES && last) LeaveColumns<Sum>(total, totals);
        ArriveWarps(1 + b / BATCH);
      }
    }
    return;
  }

  Sums sums;
#pragma unroll
  for (int i = 0; i < CHAINS * BLOCK_Q / 2; ++i) sums[i / (BLOCK_Q / 2)][i % (BLOCK_Q / 2)] = 0.0f;
  float most = kLowest;
#pragma unroll 1
  for (int round = 0; round < at.end; round += kRoundKeys) {
    const int parity = round / kRoundKeys % 2;
    SyncWarps(kMaxima);
    if (round > 0) {
      // Nobody reads the values of the round before any more: the warps of this group order all of the new ones.
      if (threadIdx.x % 32 == 0) {
        CopyTiles(at, at.Values(0), &V_map, round, warp % 4, at.ValueBarrier(0), 4);
      }
    }
    const float before = most;
    most = fmaxf(before, TakeColumn<Larger>(largest + parity * kWarps * BLOCK_Q));
    if (round > 0) {
      Columns fade;
      SpreadColumns(Exp2((before - most) * factor), fade);
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
          sums[c][i / 2 * 4 + i % 2] *= fade[i];
          sums[c][i / 2 * 4 + i % 2 + 2] *= fade[i];
        }
      }
    }
    const int tiles = min(kRoundTiles, (at.end - round + kTileKeys - 1) / kTileKeys);
    int tile = 0;
#pragma unroll 1
    do {
      if (tile % (BATCH * GROUPS) == 0) SyncWarps(1 + tile / (BATCH * GROUPS));
      Wait(at.ValueBarrier(tile), parity);
      BeginProducts();
      StartSums(sums, at.Values(tile), at.Weights(tile));
    } while (++tile < tiles);
    // Batches without a tile that anybody sees: their barriers still count.
#pragma unroll 1
    for (int b = (tiles + BATCH * GROUPS - 1) / (BATCH * GROUPS); b < TILES / BATCH; ++b) SyncWarps(1 + b);
    WaitForProducts<0>();
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) PinRegisters(sums[c]);
  }
  Columns inverse;
  SpreadColumns(__fdividef(1.0f, TakeColumn<Sum>(totals)), inverse);
  half* out = O + (static_cast<long long>(at.head) * length + at.block_row) * HEAD_DIM;
#pragma unroll
  for (int j = 0; j < kOctets; ++j) {
    float octet[4] = {};
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) octet[e] += sums[c][4 * j + e];
    }
    const float of_octet[2] = {inverse[2 * j], inverse[2 * j + 1]};
    StoreOctet(octet, of_octet, out + j * 8 * HEAD_DIM, length - at.block_row - j * 8);
  }
}
