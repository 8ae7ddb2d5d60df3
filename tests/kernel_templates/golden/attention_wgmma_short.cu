// Attention for Hopper where a block's keys fit into shared memory: all copies are ordered at the start, and the warp groups of a
// block share its query rows, 64 each, and the keys, which the groups of the same rows split. So four groups with few registers each
// are at work, where attention/wgmma.cu has two or three; the key groups are put together once, through shared memory.
// evo:param BLOCK_M 64 128
// evo:param KEY_GROUPS 1 2
// evo:param TILES 2 4 8
// evo:param QUERY_REGISTERS 0 1
// evo:param INTEGER_MAX 0 1
// evo:param LAZY_RESCALE 0 1
// evo:param CAUSAL 0
// evo:param HEAD_DIM 64
// evo:constraint BLOCK_M * KEY_GROUPS <= 256
// evo:constraint BLOCK_M * 128 + KEY_GROUPS * TILES * 16384 + 2048 <= 232448
// evo:constraint (KEY_GROUPS - 1) * BLOCK_M * 256 <= KEY_GROUPS * TILES * 16384
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:launch attention_wgmma_short(Q_map, K_map, V_map, O, scale, S, D) \
//   grid(ceil_div(S, BLOCK_M), H, B) block(2 * BLOCK_M * KEY_GROUPS) \
//   shared(BLOCK_M * 128 + KEY_GROUPS * TILES * 16384 + 2048)
#include <cuda_fp16.h>
#pragma nv_hdrstop

// Query rows of a block: 64 for each row group.
#ifndef BLOCK_M
#define BLOCK_M 64
#endif

// Warp groups that share the same rows and split the keys.
#ifndef KEY_GROUPS
#define KEY_GROUPS 1
#endif

// Tiles of 64 keys that a key group has in shared memory.
#ifndef TILES
#define TILES 4
#endif

// Whether the queries are held in registers instead of being read from shared memory for every tile.
#ifndef QUERY_REGISTERS
#define QUERY_REGISTERS 1
#endif

// Whether the largest score is looked for among integers, three at a time.
#ifndef INTEGER_MAX
#define INTEGER_MAX 1
#endif

// Whether a maximum that grew by less than 2^8 is left as it is, which saves the rescaling of the sums.
#ifndef LAZY_RESCALE
#define LAZY_RESCALE 0
#endif

// Whether a query sees only the keys up to its own place.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements of a row; another size of the task is refused.
#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

#define ROW_GROUPS (BLOCK_M / 64)
#define GROUPS (ROW_GROUPS * KEY_GROUPS)

constexpr int kTileKeys = 64;
constexpr int kRoundKeys = KEY_GROUPS * TILES * kTileKeys;

// Bytes. Rows are 128 bytes: 64 columns.
constexpr int kRowBytes = 128;
constexpr int kQueryBytes = 64 * kRowBytes;   // of a row group
constexpr int kTileBytes = kTileKeys * kRowBytes;
// Eight rows: the swizzle repeats.
constexpr int kSwizzleBytes = 1024;

constexpr float kLog2E = 1.44269504f;
// A lazy maximum lets weights grow to 2^8: far from the largest half, 65504.
constexpr float kLazyGrowth = 8.0f;

// What the driver calls CUtensorMap; NVRTC has no cuda.h.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

// A block's shared memory, by offset from an address that the swizzle counts from.
constexpr int kKeys = ROW_GROUPS * kQueryBytes;
constexpr int kValues = kKeys + KEY_GROUPS * TILES * kTileBytes;
constexpr int kBarriers = kValues + KEY_GROUPS * TILES * kTileBytes;   // queries, [key group][tile] keys, values

#define OPERANDS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_32(d) OPERANDS_8(d, 0), OPERANDS_8(d, 8), OPERANDS_8(d, 16), OPERANDS_8(d, 24)
#define NAMES_32 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"

// A 64 x 64 tile of scores, or of sums, as an accumulator.
using Tile = float[32];

// d (+)= a * b for 64 rows, 64 columns and 16 terms: `b` by descriptor, `a` by descriptor or as four registers of halves.
__device__ __forceinline__ void MultiplyShared(Tile& d, unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_32 "}, %32, %33, p, 1, 1, 0, 0;\n}"
               : OPERANDS_32(d)
               : "l"(a), "l"(b), "r"(add));
}
template <int kTransposed>
__device__ __forceinline__ void MultiplyRegisters(Tile& d, const unsigned* a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" NAMES_32 "}, {%32, %33, %34, %35}, %36, p, 1, 1, %38;\n}"
               : OPERANDS_32(d)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(kTransposed));
}

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

// Brings a box of rows from `row` of a head to shared memory and tells the barrier; rows past the end arrive as zeros.
__device__ __forceinline__ void CopyBox(unsigned to, const TensorMap* map, int row, int head, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(0), "r"(row), "r"(head)
      : "memory");
}

__device__ __forceinline__ void Expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// The same where it is all that the barrier waits for.
__device__ __forceinline__ void Copy(unsigned to, const TensorMap* map, int row, int head, unsigned barrier, unsigned bytes) {
  Expect(barrier, bytes);
  CopyBox(to, map, row, head, barrier);
}

// Barrier of the warps of some groups; 0 is __syncthreads' own.
__device__ __forceinline__ void SyncWarps(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ float Exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Less than every score; NVRTC has no INFINITY.
__device__ __forceinline__ float Lowest() { return __uint_as_float(0xff800000u); }

__device__ __forceinline__ float QuadMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float QuadSum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// What a thread holds of its group's 64 rows. A warp has 16 of them and a thread two, lane / 4 and 8 further: element i of a
// tile is row i / 2 % 2 and column i / 4 * 8 + lane % 4 * 2 + i % 2.
struct Rows {
  Tile sums;
  float largest[2];   // of the raw scores so far
  float weights[2];   // sum over this thread's columns
};

// Keys from `end` on, counted from the tile's first one, do not count for the thread's rows.
__device__ __forceinline__ void Mask(Tile& scores, int end0, int end1) {
  const int first = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int column = i / 4 * 8 + first + i % 2;
    if (column >= (i / 2 % 2 == 0 ? end0 : end1)) scores[i] = Lowest();
  }
}

// The largest score of row r of the thread's two, over all lanes that share it.
__device__ __forceinline__ float RowMax(const Tile& scores, int r) {
  float most[2] = {scores[2 * r], scores[2 * r + 1]};
#pragma unroll
  for (int i = 4 + 2 * r; i < 32; i += 4) {
    most[0] = fmaxf(most[0], scores[i]);
    most[1] = fmaxf(most[1], scores[i + 1]);
  }
  return QuadMax(fmaxf(most[0], most[1]));
}

// The same of the bits as integers, three at a time. Positive numbers order as their bits do; a negative result says only that no
// score is positive.
__device__ __forceinline__ float RowMaxOfBits(const Tile& scores, int r) {
  int most = max(__float_as_int(scores[2 * r]), __float_as_int(scores[2 * r + 1]));
#pragma unroll
  for (int i = 4 + 2 * r; i < 32; i += 4) most = max(max(__float_as_int(scores[i]), __float_as_int(scores[i + 1])), most);
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 1));
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 2));
  return __int_as_float(most);
}

// Turns scores into weights; `fade` is by how much what was summed before has to shrink.
__device__ __forceinline__ void ScoresToWeights(Tile& scores, float factor, Rows& rows, float (&fade)[2]) {
  float most[2];
  if (INTEGER_MAX) {
    most[0] = RowMaxOfBits(scores, 0);
    most[1] = RowMaxOfBits(scores, 1);
    const bool unknown = (most[0] <= 0.0f && rows.largest[0] < 0.0f) || (most[1] <= 0.0f && rows.largest[1] < 0.0f);
    if (__any_sync(0xffffffffu, unknown)) {
      most[0] = RowMax(scores, 0);
      most[1] = RowMax(scores, 1);
    }
  } else {
    most[0] = RowMax(scores, 0);
    most[1] = RowMax(scores, 1);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float before = rows.largest[r];
    float next = fmaxf(most[r], before);
    if (LAZY_RESCALE && (next - before) * factor <= kLazyGrowth) next = before;
    rows.largest[r] = next;
    // A row that has seen no key yet: anything finite will do.
    const float shift = next == Lowest() ? 0.0f : next * factor;
    fade[r] = next == before ? 1.0f : Exp2(fmaf(before, factor, -shift));
    float total[2] = {0.0f, 0.0f};
#pragma unroll
    for (int i = 2 * r; i < 32; i += 4) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        scores[i + e] = Exp2(fmaf(scores[i + e], factor, -shift));
        total[e] += scores[i + e];
      }
    }
    rows.weights[r] = fmaf(rows.weights[r], fade[r], total[0] + total[1]);
  }
}

// The accumulator's layout is that of a left operand, 16 columns a product, once the pairs are halves.
__device__ __forceinline__ void Pack(const Tile& scores, unsigned (&weights)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(weights[i]) : "f"(scores[2 * i + 1]), "f"(scores[2 * i]));
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

// A thread's part of the queries as left operands of the products; the swizzle is undone by hand.
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

// What a group needs to know of its place.
struct Place {
  unsigned shared;   // address
  int head, end;
  __device__ __forceinline__ unsigned Queries(int row_group) const { return shared + row_group * kQueryBytes; }
  __device__ __forceinline__ unsigned Keys(int key_group, int tile) const {
    return shared + kKeys + (key_group * TILES + tile) * kTileBytes;
  }
  __device__ __forceinline__ unsigned Values(int key_group, int tile) const {
    return shared + kValues + (key_group * TILES + tile) * kTileBytes;
  }
  __device__ __forceinline__ unsigned QueryBarrier() const { return shared + kBarriers; }
  __device__ __forceinline__ unsigned KeyBarrier(int key_group, int tile) const {
    return shared + kBarriers + 8 + (key_group * TILES + tile) * 8;
  }
  __device__ __forceinline__ unsigned ValueBarrier(int key_group, int tile) const {
    return KeyBarrier(key_group, tile) + KEY_GROUPS * TILES * 8;
  }
  // The key groups take turns, so that causal blocks split what they see.
  __device__ __forceinline__ int FirstKey(int round, int key_group, int tile) const {
    return round + (tile * KEY_GROUPS + key_group) * kTileKeys;
  }
  // Orders copies of a tile of keys and values. One thread.
  __device__ __forceinline__ void CopyTile(const TensorMap* K_map, const TensorMap* V_map, int round, int key_group, int tile) const {
    const int first = FirstKey(round, key_group, tile);
    if (first >= end) return;
    Copy(Keys(key_group, tile), K_map, first, head, KeyBarrier(key_group, tile), kTileBytes);
    Copy(Values(key_group, tile), V_map, first, head, ValueBarrier(key_group, tile), kTileBytes);
  }
};

// Divides by the weights and stores `kOctets` of 8 columns. Four lanes share a row and hold pairs of columns: they trade, so that each
// stores 16 bytes.
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
      // A 4 x 4 transpose in two steps: with the lane beside, then with the one two further.
#pragma unroll
      for (int step = 1; step <= 2; step *= 2) {
        const bool upper = (quad & step) != 0;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if ((j & step) != 0) continue;
          const unsigned give = upper ? pairs[j] : pairs[j + step];
          const unsigned take = __shfl_xor_sync(0xffffffffu, give, step);
          if (upper) {
            pairs[j] = take;
          } else {
            pairs[j + step] = take;
          }
        }
      }
      if (row < valid) {
        *reinterpret_cast<uint4*>(out + static_cast<long long>(row) * HEAD_DIM + c * 32 + quad * 8) =
            make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      }
    }
  }
}

__global__ void __launch_bounds__(128 * GROUPS, 1)
    attention_wgmma_short(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                          const __grid_constant__ TensorMap V_map, half* __restrict__ O, float scale, int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const unsigned begin = SharedAddress(shared_memory);
  const unsigned skip = (kSwizzleBytes - begin % kSwizzleBytes) % kSwizzleBytes;
  char* shared = reinterpret_cast<char*>(shared_memory) + skip;
  const int group = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0);
  const int key_group = group % KEY_GROUPS;
  const int row_group = group / KEY_GROUPS;
  const int thread = threadIdx.x % 128;
  const int block_row = (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * BLOCK_M;
  const int group_row = block_row + row_group * 64;
  Place at;
  at.shared = begin + skip;
  at.head = blockIdx.z * gridDim.y + blockIdx.y;
  at.end = CAUSAL ? min(length, block_row + BLOCK_M) : length;   // keys that some row of the block sees

  if (threadIdx.x == 0) {
    InitBarrier(at.QueryBarrier());
#pragma unroll
    for (int i = 0; i < 2 * KEY_GROUPS * TILES; ++i) InitBarrier(at.KeyBarrier(0, i));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");   // the copy engine sees them too
    Expect(at.QueryBarrier(), ROW_GROUPS * kQueryBytes);
#pragma unroll
    for (int r = 0; r < ROW_GROUPS; ++r) CopyBox(at.Queries(r), &Q_map, block_row + r * 64, at.head, at.QueryBarrier());
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
#pragma unroll
      for (int g = 0; g < KEY_GROUPS; ++g) at.CopyTile(&K_map, &V_map, 0, g, t);
    }
  }
  __syncthreads();

  const float factor = scale * kLog2E;
  // Keys that the group's rows see, and those that all of them see.
  const int group_end = CAUSAL ? min(length, group_row + 64) : length;
  const int seen_by_all = CAUSAL ? min(length, group_row + 1) : length;
  Rows rows;
  Tile scores;
  unsigned weights[16];
  unsigned held[16];
  float fade[2];
#pragma unroll
  for (int i = 0; i < 32; ++i) rows.sums[i] = 0.0f;
  rows.largest[0] = rows.largest[1] = Lowest();
  rows.weights[0] = rows.weights[1] = 0.0f;
  Wait(at.QueryBarrier(), 0);
  if (QUERY_REGISTERS) LoadQueries(at.Queries(row_group), held);

  unsigned parity = 0;
  for (int round = 0; round < at.end; round += kRoundKeys) {
    const int mine = at.FirstKey(round, key_group, 0);
    // Tiles of the round that the group's rows see.
    const int tiles = min(TILES, (group_end - mine + KEY_GROUPS * kTileKeys - 1) / (KEY_GROUPS * kTileKeys));
    if (mine < group_end) {
      Wait(at.KeyBarrier(key_group, 0), parity);
      BeginProducts();
      StartScores(scores, at.Queries(row_group), held, at.Keys(key_group, 0));
      WaitForProducts<0>();
      PinRegisters(scores);
#pragma unroll 1
      for (int t = 0; t < tiles; ++t) {
        const int first = at.FirstKey(round, key_group, t);
        if (first + kTileKeys > seen_by_all) {
          const int row = group_row + thread / 32 * 16 + thread % 32 / 4;
          Mask(scores, (CAUSAL ? min(length, row + 1) : length) - first, (CAUSAL ? min(length, row + 9) : length) - first);
        }
        ScoresToWeights(scores, factor, rows, fade);
        WaitForProducts<0>();
        PinRegisters(rows.sums);
        if (!LAZY_RESCALE || __any_sync(0xffffffffu, fade[0] != 1.0f || fade[1] != 1.0f)) {
#pragma unroll
          for (int i = 0; i < 32; ++i) rows.sums[i] *= fade[i / 2 % 2];
        }
        Pack(scores, weights);
        // The next scores first, so that they are there while the sums of this tile go on.
        if (t + 1 < tiles) {
          Wait(at.KeyBarrier(key_group, t + 1), parity);
          BeginProducts();
          StartScores(scores, at.Queries(row_group), held, at.Keys(key_group, t + 1));
          Wait(at.ValueBarrier(key_group, t), parity);
          BeginProducts();
          StartSums(rows.sums, weights, at.Values(key_group, t));
          WaitForProducts<1>();
          PinRegisters(scores);
        } else {
          Wait(at.ValueBarrier(key_group, t), parity);
          BeginProducts();
          StartSums(rows.sums, weights, at.Values(key_group, t));
        }
      }
      WaitForProducts<0>();
      PinRegisters(rows.sums);
    }
    if (round + kRoundKeys < at.end) {
      SyncWarps(1 + key_group, 128 * ROW_GROUPS);   // nobody reads these keys and values any more
      if (row_group == 0 && thread == 0) {
        for (int t = 0; t < TILES; ++t) at.CopyTile(&K_map, &V_map, round + kRoundKeys, key_group, t);
      }
    }
    parity ^= 1;
  }

  // Each key group puts some columns of its rows together: its own part from registers, the others' from shared memory, over keys
  // and values that nobody reads any more.
  constexpr int kOctets = 8 / KEY_GROUPS;   // of 8 columns each
  rows.weights[0] = QuadSum(rows.weights[0]);
  rows.weights[1] = QuadSum(rows.weights[1]);
  float out[kOctets * 4];
  float most[2] = {rows.largest[0] * factor, rows.largest[1] * factor};
  float total[2] = {rows.weights[0], rows.weights[1]};
  if (KEY_GROUPS == 1) {
#pragma unroll
    for (int i = 0; i < kOctets * 4; ++i) out[i] = rows.sums[i];
  } else {
    __syncthreads();
    float4* partials = reinterpret_cast<float4*>(shared + kKeys) + row_group * (KEY_GROUPS * (KEY_GROUPS - 1)) * (kOctets * 128);
    float4* states = reinterpret_cast<float4*>(shared) + row_group * KEY_GROUPS * 128;   // over the queries
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
#pragma unroll
      for (int o = 0; o < kOctets; ++o) {
        const float* sums = rows.sums + (g * kOctets + o) * 4;
        if (g == key_group) {
#pragma unroll
          for (int e = 0; e < 4; ++e) out[o * 4 + e] = sums[e];
        } else {
          const int place = (g * (KEY_GROUPS - 1) + key_group - (key_group > g)) * kOctets + o;
          partials[place * 128 + thread] = make_float4(sums[0], sums[1], sums[2], sums[3]);
        }
      }
    }
    states[key_group * 128 + thread] = make_float4(most[0], total[0], most[1], total[1]);
    SyncWarps(1 + KEY_GROUPS + row_group, 128 * KEY_GROUPS);
    float4 state[KEY_GROUPS];
    const float own[2] = {most[0], most[1]};
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      state[g] = states[g * 128 + thread];
      most[0] = fmaxf(most[0], state[g].x);
      most[1] = fmaxf(most[1], state[g].z);
    }
    const float own_share[2] = {Exp2(own[0] - most[0]), Exp2(own[1] - most[1])};
#pragma unroll
    for (int i = 0; i < kOctets * 4; ++i) out[i] *= own_share[i / 2 % 2];
    total[0] = total[1] = 0.0f;
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      const float share[2] = {Exp2(state[g].x - most[0]), Exp2(state[g].z - most[1])};
      total[0] = fmaf(share[0], state[g].y, total[0]);
      total[1] = fmaf(share[1], state[g].w, total[1]);
      if (g == key_group) continue;
#pragma unroll
      for (int o = 0; o < kOctets; ++o) {
        const float4 part = partials[((key_group * (KEY_GROUPS - 1) + g - (g > key_group)) * kOctets + o) * 128 + thread];
        out[o * 4] = fmaf(share[0], part.x, out[o * 4]);
        out[o * 4 + 1] = fmaf(share[0], part.y, out[o * 4 + 1]);
        out[o * 4 + 2] = fmaf(share[1], part.z, out[o * 4 + 2]);
        out[o * 4 + 3] = fmaf(share[1], part.w, out[o * 4 + 3]);
      }
    }
  }
  const float shares[2] = {__fdividef(1.0f, total[0]), __fdividef(1.0f, total[1])};
  half* to = O + (static_cast<long long>(at.head) * length + group_row) * HEAD_DIM + key_group * kOctets * 8;
  StoreRows<kOctets>(out, shares, to, length - group_row);
}
