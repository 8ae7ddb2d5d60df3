// Attention for Hopper and small grids: the warp groups of a block share its few query rows and split the keys.
// The products are computed transposed, scores as keys times queries and sums as columns times queries, so that the 64 rows that a
// warp group's product always has are keys, or columns of the values, and the queries may be as few as 8. Keys come
// first and values after them, a barrier for each part, and a group waits for its own parts alone; the groups are put together once, through shared memory.
// evo:param BLOCK_Q 16 32 64
// evo:param GROUPS 2 4
// evo:param TILES 1 2 4
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint BLOCK_Q * TILES <= 128
// evo:constraint GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 32 + BLOCK_Q * 128 + 2048 <= 232448
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, BLOCK_Q, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:launch attention_wgmma_split(Q_map, K_map, V_map, K, V, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_Q), H, B) block(128 * GROUPS) \
//   shared(GROUPS * TILES * (16384 + BLOCK_Q * 128) + GROUPS * BLOCK_Q * 32 + BLOCK_Q * 128 + 2048)
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_Q
#define BLOCK_Q 32
#endif

// Warp groups, each with keys of its own.
#ifndef GROUPS
#define GROUPS 4
#endif

// Tiles of 64 keys that a group takes at a time.
#ifndef TILES
#define TILES 2
#endif

// Whether a query sees only the keys up to its own place.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row; another size of the task is refused.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

// 0: tensor maps bring keys; 1: the group copies its keys itself.
#ifndef KEYS_BY_THREADS
#define KEYS_BY_THREADS 0
#endif

// 0: values are ordered with the keys; 1: by each group when its keys are there; 2: the group's threads copy them right behind the keys
#ifndef VALUES_LATER
#define VALUES_LATER 0
#endif

constexpr int kTileKeys = 64;
constexpr int kGroupKeys = TILES * kTileKeys;     // of a round
constexpr int kRoundKeys = GROUPS * kGroupKeys;
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
using Sums = float[BLOCK_Q / 2];
using Columns = float[kColumns];

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = kQueryBytes;
constexpr int kValues = kKeys + GROUPS * TILES * kTileBytes;
constexpr int kWeights = kValues + GROUPS * TILES * kTileBytes;
constexpr int kLargest = kWeights + GROUPS * TILES * kWeightBytes;   // ints, [round % 2][group][column]
constexpr int kTotals = kLargest + 2 * GROUPS * BLOCK_Q * 4;          // floats, [group][warp][column]
constexpr int kStates = kTotals + GROUPS * 4 * BLOCK_Q * 4;           // largest and total, [group][column]
constexpr int kBarriers = kStates + GROUPS * BLOCK_Q * 8;             // queries, [group][tile] keys, values

#ifdef STAMPS
#define STAMP(i) \
  if (threadIdx.x % 128 == 0) stamps[((blockIdx.y * gridDim.x + blockIdx.x) * GROUPS + group) * 16 + i] = clock64()
#else
#define STAMP(i)
#endif

#define OPERANDS_AT(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_8(d) OPERANDS_AT(d, 0)
#define OPERANDS_16(d) OPERANDS_8(d), OPERANDS_AT(d, 8)
#define OPERANDS_32(d) OPERANDS_16(d), OPERANDS_AT(d, 16), OPERANDS_AT(d, 24)
#define NAMES_8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define NAMES_16 NAMES_8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES_32 NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"

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
DEFINE_PRODUCT(64, 32, 32, 33, 34, 35)

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

__device__ __forceinline__ void Prefetch(const TensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// The tensor cores see what this thread wrote to shared memory.
__device__ __forceinline__ void ShowToProducts() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Barrier of the warps of a group; 0 is __syncthreads' own.
__device__ __forceinline__ void SyncGroup(int group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

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

// Integers that order as the floats do.
__device__ __forceinline__ int Ordered(float x) {
  const int bits = __float_as_int(x);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ __forceinline__ float FromOrdered(int x) { return __int_as_float(x ^ (x >> 31 & 0x7fffffff)); }

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

// What a group needs to know of its place.
struct Place {
  unsigned shared;   // address
  int group, head, block_row, length, end;
  __device__ __forceinline__ unsigned Keys(int group_, int tile) const { return shared + kKeys + (group_ * TILES + tile) * kTileBytes; }
  __device__ __forceinline__ unsigned Values(int group_, int tile) const { return shared + kValues + (group_ * TILES + tile) * kTileBytes; }
  __device__ __forceinline__ unsigned Weights(int tile) const { return shared + kWeights + (group * TILES + tile) * kWeightBytes; }
  __device__ __forceinline__ unsigned QueryBarrier() const { return shared + kBarriers; }
  __device__ __forceinline__ unsigned KeyBarrier(int group_, int tile) const { return shared + kBarriers + 8 + (group_ * TILES + tile) * 8; }
  __device__ __forceinline__ unsigned ValueBarrier(int group_, int tile) const {
    return shared + kBarriers + 8 + ((GROUPS + group_) * TILES + tile) * 8;
  }
};

// Orders copies of the keys, or values, that a group has in the round from `first` on. One thread.
__device__ __forceinline__ void CopyKeys(const Place& at, int group, const TensorMap* map, int first) {
#pragma unroll
  for (int t = 0; t < TILES; ++t) Copy(at.Keys(group, t), map, first + t * kTileKeys, at.head, at.KeyBarrier(group, t), kTileBytes);
}
__device__ __forceinline__ void CopyValues(const Place& at, int group, const TensorMap* map, int first) {
#pragma unroll
  for (int t = 0; t < TILES; ++t) Copy(at.Values(group, t), map, first + t * kTileKeys, at.head, at.ValueBarrier(group, t), kTileBytes);
}

// The same by the group's threads.
__device__ __forceinline__ void CopyByThreads(unsigned to, const half* from, int first, int length) {
  const int thread = threadIdx.x % 128;
  const int vector = thread % 8;
#pragma unroll
  for (int i = 0; i < kGroupKeys / 16; ++i) {
    const int row = thread / 8 + i * 16;
    const bool valid = first + row < length;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + row * kRowBytes + (vector ^ row % 8) * 16),
                 "l"(valid ? from + (first + row) * HEAD_DIM + vector * 8 : from), "r"(valid ? 16 : 0));
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void WaitForOwnCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// Starts the scores of a tile: 64 keys times the block's queries.
__device__ __forceinline__ void StartScores(float (&scores)[BLOCK_Q / 2], unsigned keys, unsigned queries) {
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) Multiply<0>(scores, Descriptor(keys + k * 32), Descriptor(queries + k * 32), k > 0);
  CommitProducts();
}

// Starts sums += transposed values times weights, for a tile.
__device__ __forceinline__ void StartSums(Sums& sums, unsigned values, unsigned weights, bool add) {
#pragma unroll
  for (int k = 0; k < kTileKeys / 16; ++k) {
    Multiply<1>(sums, Descriptor(values + k * 16 * kRowBytes), Descriptor(weights + k * 32), add || k > 0);
  }
  CommitProducts();
}

// Takes out the keys that a query must not see. In a tile a thread has the keys lane / 4 and lane / 4 + 8 of its warp's 16.
__device__ __forceinline__ void MaskScores(Scores& scores, int first_key, int block_row, int length) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int t = 0; t < TILES; ++t) {
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 2; ++i) {
      const int query = block_row + i / 4 * 8 + lane % 4 * 2 + i % 2;
      const int key = first_key + t * kTileKeys + threadIdx.x % 128 / 32 * 16 + i / 2 % 2 * 8 + lane / 4;
      if (key >= (CAUSAL ? min(length, query + 1) : length)) scores[t][i] = kMasked;
    }
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

// The thread's columns of an array of the block's.
template <typename T>
__device__ __forceinline__ void LoadColumns(const T* from, T (&to)[kColumns]) {
  const int4* vectors = reinterpret_cast<const int4*>(from + threadIdx.x % 4 * kColumns);
#pragma unroll
  for (int i = 0; i < kColumns / 4; ++i) reinterpret_cast<int4*>(to)[i] = vectors[i];
}

// The largest score of each query among the group's keys so far.
__device__ __forceinline__ void FindLargest(const Scores& scores, int group, int* shared, Columns& largest) {
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    const int first = i / 2 * 4 + i % 2;
    float most = fmaxf(scores[0][first], scores[0][first + 2]);
#pragma unroll
    for (int t = 1; t < TILES; ++t) most = fmaxf(most, fmaxf(scores[t][first], scores[t][first + 2]));
    largest[i] = most;
  }
  ReduceColumns<Larger>(largest);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) atomicMax(shared + OwnColumn() + i, Ordered(largest[i]));
  SyncGroup(group);
  int ordered[kColumns];
  LoadColumns(shared, ordered);
#pragma unroll
  for (int i = 0; i < kColumns; ++i) largest[i] = FromOrdered(ordered[i]);
}

__global__ void __launch_bounds__(128 * GROUPS, 1)
    attention_wgmma_split(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, const half* __restrict__ K, const half* __restrict__ V,
                          half* __restrict__ O, float scale, int length, int depth
#ifdef STAMPS
                          ,
                          long long* stamps
#endif
    ) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const unsigned begin = SharedAddress(shared_memory);
  const unsigned skip = (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
  char* shared = reinterpret_cast<char*>(shared_memory) + skip;
  Place at;
  at.shared = begin + skip;
  at.group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  at.head = blockIdx.z * gridDim.y + blockIdx.y;
  at.block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_Q;
  at.length = length;
  at.end = CAUSAL ? min(length, at.block_row + BLOCK_Q) : length;   // keys that some query of the block sees
  const int group = at.group;
  const int thread = threadIdx.x % 128;
  const int warp = thread / 32;
  const int lane = thread % 32;
  const long long head_begin = static_cast<long long>(at.head) * length * HEAD_DIM;
  STAMP(0);

  if (threadIdx.x == 0) {
    InitBarrier(at.QueryBarrier());
#pragma unroll
    for (int i = 0; i < 2 * GROUPS * TILES; ++i) InitBarrier(at.KeyBarrier(0, i));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    ShowToProducts();
    Copy(at.shared, &Q_map, at.block_row, at.head, at.QueryBarrier(), kQueryBytes);
    if (!KEYS_BY_THREADS) {
#pragma unroll
      for (int g = 0; g < GROUPS; ++g) {
        if (g * kGroupKeys < at.end) CopyKeys(at, g, &K_map, g * kGroupKeys);
      }
    }
    if (VALUES_LATER == 0) {
#pragma unroll
      for (int g = 0; g < GROUPS; ++g) {
        if (g * kGroupKeys < at.end) CopyValues(at, g, &V_map, g * kGroupKeys);
      }
    }
  }
  if (KEYS_BY_THREADS && group * kGroupKeys < at.end) CopyByThreads(at.Keys(group, 0), K + head_begin, group * kGroupKeys, length);
  if (VALUES_LATER == 2 && group * kGroupKeys < at.end) CopyByThreads(at.Values(group, 0), V + head_begin, group * kGroupKeys, length);
  int* largest_shared = reinterpret_cast<int*>(shared + kLargest) + group * BLOCK_Q;
  for (int i = thread; i < 2 * BLOCK_Q; i += 128) largest_shared[i / BLOCK_Q * GROUPS * BLOCK_Q + i % BLOCK_Q] = Ordered(kLowest);
  STAMP(1);
  __syncthreads();
  STAMP(2);

#ifdef ONLY_COPY
  if (!KEYS_BY_THREADS) for (int t = 0; t < TILES; ++t) Wait(at.KeyBarrier(group, t), 0);
  if (VALUES_LATER == 0) for (int t = 0; t < TILES; ++t) Wait(at.ValueBarrier(group, t), 0);
  WaitForOwnCopies<0>();
  __syncthreads();
  return;
#endif
  const float factor = scale * kLog2E;
  float* totals = reinterpret_cast<float*>(shared + kTotals) + group * 4 * BLOCK_Q;
  float2* states = reinterpret_cast<float2*>(shared + kStates);
  Sums sums;
  Columns largest;
  Columns total = {};
#pragma unroll
  for (int i = 0; i < kColumns; ++i) largest[i] = kLowest;
#pragma unroll
  for (int i = 0; i < BLOCK_Q / 2; ++i) sums[i] = 0.0f;

  unsigned parity = 0;
  for (int first = group * kGroupKeys; first < at.end; first += kRoundKeys) {
    const int next = first + kRoundKeys;
    Scores scores;
    if (parity == 0) Wait(at.QueryBarrier(), 0);
    if (KEYS_BY_THREADS) {
      WaitForOwnCopies<VALUES_LATER == 2>();
      ShowToProducts();
      SyncGroup(group);
    }
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
      if (!KEYS_BY_THREADS) Wait(at.KeyBarrier(group, t), parity);
      if (t == 0) {
        STAMP(3);
        BeginProducts();
      }
      StartScores(scores[t], at.Keys(group, t), at.shared);
    }
    if (VALUES_LATER == 1 && thread == 0) CopyValues(at, group, &V_map, first);
    WaitForProducts<0>();
#pragma unroll
    for (int t = 0; t < TILES; ++t) PinRegisters(scores[t]);
    STAMP(4);
    if (first + kGroupKeys > (CAUSAL ? min(length, at.block_row + 1) : length)) MaskScores(scores, first, at.block_row, length);

    Columns before;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) before[i] = largest[i];
    FindLargest(scores, group, largest_shared + parity * GROUPS * BLOCK_Q, largest);
    STAMP(5);
    // Nobody reads the keys any more.
    if (next < at.end) {
      if (KEYS_BY_THREADS) {
        CopyByThreads(at.Keys(group, 0), K + head_begin, next, length);
      } else if (thread == 0) {
        CopyKeys(at, group, &K_map, next);
      }
    }
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const float fade = Exp2((before[i] - largest[i]) * factor);
      const float shift = largest[i] * factor;
      const int at_i = i / 2 * 4 + i % 2;
      float sum = 0.0f;
#pragma unroll
      for (int t = 0; t < TILES; ++t) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float& score = scores[t][at_i + 2 * r];
          score = Exp2(fmaf(score, factor, -shift));
          sum += score;
        }
      }
      total[i] = fmaf(total[i], fade, sum);
      sums[at_i] *= fade;
      sums[at_i + 2] *= fade;
    }
#pragma unroll
    for (int t = 0; t < TILES; ++t) StoreWeights(scores[t], at.Weights(t));
    ShowToProducts();
    if (next >= at.end) {
      Columns reduced;
#pragma unroll
      for (int i = 0; i < kColumns; ++i) reduced[i] = total[i];
      ReduceColumns<Sum>(reduced);
#pragma unroll
      for (int i = 0; i < kOwn; ++i) totals[warp * BLOCK_Q + OwnColumn() + i] = reduced[i];
    }
    STAMP(6);
    SyncGroup(group);
    STAMP(7);
    if (VALUES_LATER == 2) {
      WaitForOwnCopies<0>();
      ShowToProducts();
      SyncGroup(group);
    }
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
      if (VALUES_LATER != 2) Wait(at.ValueBarrier(group, t), parity);
      if (t == 0) {
        STAMP(8);
        BeginProducts();
      }
      StartSums(sums, at.Values(group, t), at.Weights(t), true);
    }
    if (next >= at.end) {
      const int* ordered = largest_shared + parity * GROUPS * BLOCK_Q;
      if (thread < BLOCK_Q) {
        const float sum = (totals[thread] + totals[BLOCK_Q + thread]) + (totals[2 * BLOCK_Q + thread] + totals[3 * BLOCK_Q + thread]);
        states[group * BLOCK_Q + thread] = make_float2(FromOrdered(ordered[thread]) * factor, sum);
      }
    }
    WaitForProducts<0>();
    PinRegisters(sums);
    STAMP(9);
    if (next < at.end) {
      SyncGroup(group);   // nobody reads the values any more
      if (VALUES_LATER == 2) CopyByThreads(at.Values(group, 0), V + head_begin, next, length);
      if (VALUES_LATER == 0 && thread == 0) CopyValues(at, group, &V_map, next);
    }
    parity ^= 1;
  }

  // Each group puts together some octets of queries, its own part from registers and the others' from shared memory, over the keys.
  constexpr int kMine = (kOctets + GROUPS - 1) / GROUPS;
  float mine[kMine][4];
  float4* partials = reinterpret_cast<float4*>(shared + kKeys);
#pragma unroll
  for (int j = 0; j < kOctets; ++j) {
    if (j % GROUPS == group) {
#pragma unroll
      for (int e = 0; e < 4; ++e) mine[j / GROUPS][e] = sums[4 * j + e];
    } else if (group * kGroupKeys < at.end) {
      partials[group * (TILES * kTileBytes / 16) + j * 128 + thread] = make_float4(sums[4 * j], sums[4 * j + 1], sums[4 * j + 2], sums[4 * j + 3]);
    }
  }
  STAMP(10);
  __syncthreads();
  STAMP(11);
#pragma unroll
  for (int m = 0; m < kMine; ++m) {
    const int octet = m * GROUPS + group;
    if (octet >= kOctets) break;
    float4 state[GROUPS];   // of the thread's two queries
    float4 part[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
      state[g] = make_float4(kLowest, 0.0f, kLowest, 0.0f);
      part[g] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (g * kGroupKeys < at.end) {
        state[g] = *reinterpret_cast<const float4*>(states + g * BLOCK_Q + lane % 4 * kColumns + 2 * octet);
        part[g] = g == group ? make_float4(mine[m][0], mine[m][1], mine[m][2], mine[m][3])
                             : partials[g * (TILES * kTileBytes / 16) + octet * 128 + thread];
      }
    }
    float most[2] = {kLowest, kLowest};
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
      most[0] = fmaxf(most[0], state[g].x);
      most[1] = fmaxf(most[1], state[g].z);
    }
    float weight[2] = {};
    float out[4] = {};
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
      const float share[2] = {Exp2(state[g].x - most[0]), Exp2(state[g].z - most[1])};
      weight[0] = fmaf(share[0], state[g].y, weight[0]);
      weight[1] = fmaf(share[1], state[g].w, weight[1]);
      out[0] = fmaf(share[0], part[g].x, out[0]);
      out[1] = fmaf(share[1], part[g].y, out[1]);
      out[2] = fmaf(share[0], part[g].z, out[2]);
      out[3] = fmaf(share[1], part[g].w, out[3]);
    }
    const float inverse[2] = {__fdividef(1.0f, weight[0]), __fdividef(1.0f, weight[1])};
    // Rows of this are columns of the values, lane / 4 and 8 more, and columns are queries: transposed, then traded with the lane beside for 8 bytes.
    unsigned pairs[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const unsigned pair = Pack(out[2 * r] * inverse[0], out[2 * r + 1] * inverse[1]);
      asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(pairs[r]) : "r"(pair));
    }
    const bool odd = lane % 2 != 0;
    const unsigned traded = __shfl_xor_sync(0xffffffffu, odd ? pairs[0] : pairs[1], 1);
    const uint2 four = odd ? make_uint2(traded, pairs[1]) : make_uint2(pairs[0], traded);
    const int query = at.block_row + octet * 8 + lane / 4;
    if (query < length) {
      *reinterpret_cast<uint2*>(O + head_begin + query * HEAD_DIM + warp * 16 + lane % 2 * 8 + lane / 2 % 2 * 4) = four;
    }
  }
  STAMP(12);
}
