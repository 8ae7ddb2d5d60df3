// Attention for Hopper: warp-group products that read shared memory themselves, tiles that the copy engine brings, and blocks
// that stay. One warp group orders the copies; every other owns 64 query rows, keeps their scores and sums in registers and has
// the next scores on the tensor cores while it turns the last ones into weights. docs/attention_wgmma.md tells the whole of it.
// evo:param BLOCK_M 64 128 192 256
// evo:param BLOCK_N 64 80 96 112 128 144 160 176 192
// evo:param STAGES 2 3 4
// evo:param OVERLAP 0 1
// evo:param PING_PONG 0 1
// evo:param QUERY_REGISTERS 0 1
// evo:param LAZY_RESCALE 0 1
// evo:param INTEGER_MAX 0 1
// evo:param RESIDENT 132 1000000
// evo:param EQUAL_SHARES 0 1
// evo:param HEAD_DIM 64
// evo:param CAUSAL 0
// evo:param BF16 0
// evo:param KV_GROUP 1
// evo:constraint 1536 + (BLOCK_M + 2 * STAGES * BLOCK_N) * HEAD_DIM * 2 <= 232448
// evo:constraint (OVERLAP ? BLOCK_N * 3 / 4 : BLOCK_N / 2) + HEAD_DIM / 2 + QUERY_REGISTERS * HEAD_DIM / 4 <= \
//   (BLOCK_M == 256 ? 80 : BLOCK_M == 192 ? 132 : 208)
// evo:requires sm_90a
// evo:tensormap Q_map = Q dims(D, S, H * B) box(64, 64, 1) swizzle(128)
// evo:tensormap K_map = K dims(D, S, H * B / KV_GROUP) box(64, BLOCK_N, 1) swizzle(128)
// evo:tensormap V_map = V dims(D, S, H * B / KV_GROUP) box(64, BLOCK_N, 1) swizzle(128)
// evo:launch attention_wgmma(Q_map, K_map, V_map, O, scale, S, D, H * B) \
//   grid(min(ceil_div(S, EQUAL_SHARES ? 64 : BLOCK_M) * H * B, RESIDENT)) block(2 * BLOCK_M + 128) \
//   shared(1536 + (BLOCK_M + 2 * STAGES * BLOCK_N) * HEAD_DIM * 2)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#pragma nv_hdrstop

// Query rows of a block: 64 for each group that computes.
#ifndef BLOCK_M
#define BLOCK_M 64
#endif

// Keys of a tile.
#ifndef BLOCK_N
#define BLOCK_N 176
#endif

// Key tiles, and value tiles, that are on their way or in use.
#ifndef STAGES
#define STAGES 3
#endif

// Whether a group has the scores of one tile computed beside the sums of the one before, which takes more registers.
#ifndef OVERLAP
#define OVERLAP 1
#endif

// Whether the groups take turns in giving work to the tensor cores.
#ifndef PING_PONG
#define PING_PONG 1
#endif

// Whether the queries are held in registers instead of being read from shared memory for every tile.
#ifndef QUERY_REGISTERS
#define QUERY_REGISTERS 0
#endif

// Whether a maximum that grew by less than 2^8 is left as it is, which saves the rescaling of the sums.
#ifndef LAZY_RESCALE
#define LAZY_RESCALE 1
#endif

// Whether the largest score is looked for among integers, three at a time.
#ifndef INTEGER_MAX
#define INTEGER_MAX 0
#endif

// Most blocks of the grid, which take one tile of queries after another: as many as an H100 or H200 has multiprocessors. With a million
// every block has one tile.
#ifndef RESIDENT
#define RESIDENT 132
#endif

// Whether blocks get equal shares, instead of every so manieth tile: runs of rows, as equal as 64 rows allow; or, where it is causal,
// a long tile and a short one together.
#ifndef EQUAL_SHARES
#define EQUAL_SHARES 0
#endif

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

// Whether a query sees only the keys up to its own place.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Elements are __nv_bfloat16, not half.
#ifndef BF16
#define BF16 0
#endif

// Query heads that share a head of keys and values.
#ifndef KV_GROUP
#define KV_GROUP 1
#endif

// Causal: heads whose tiles run together, the longest tiles first.
#ifndef HEAD_GROUP
#define HEAD_GROUP 8
#endif

#define GROUPS (BLOCK_M / 64)
#define THREADS (128 * (GROUPS + 1))
// Columns of a panel: 128 bytes, the width of the swizzle.
#define PANEL 64
#define PANELS (HEAD_DIM / PANEL)

#if BF16
using Element = __nv_bfloat16;
#define ELEMENT_NAME "bf16"
#else
using Element = half;
#define ELEMENT_NAME "f16"
#endif

// Bytes.
constexpr int kQueryBytes = 64 * HEAD_DIM * 2;       // of one group
constexpr int kTileBytes = BLOCK_N * HEAD_DIM * 2;   // of keys or of values
constexpr int kQueryPanel = 64 * PANEL * 2;
constexpr int kTilePanel = BLOCK_N * PANEL * 2;
// Eight rows of a panel: the swizzle repeats.
constexpr int kSwizzleBytes = 1024;

// Registers of a thread after they are dealt out anew: together no more than all groups had at the start, which is 168, 128 and 96 a
// thread for two, three and four groups. One group alone has enough.
constexpr int kProducerRegisters = GROUPS == 2 ? 24 : 32;
constexpr int kConsumerRegisters = GROUPS == 2 ? 240 : GROUPS == 3 ? 160 : 112;

constexpr float kLog2E = 1.44269504f;
// A lazy maximum lets weights grow to 2^8: far from the largest half, 65504.
constexpr float kLazyGrowth = 8.0f;

// What the driver calls CUtensorMap; NVRTC has no cuda.h.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

// Of eight 32-bit registers, as operands and as text.
#define OPERANDS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_32(d) OPERANDS_8(d, 0), OPERANDS_8(d, 8), OPERANDS_8(d, 16), OPERANDS_8(d, 24)
#define OPERANDS_40(d) OPERANDS_32(d), OPERANDS_8(d, 32)
#define OPERANDS_48(d) OPERANDS_40(d), OPERANDS_8(d, 40)
#define OPERANDS_56(d) OPERANDS_48(d), OPERANDS_8(d, 48)
#define OPERANDS_64(d) OPERANDS_56(d), OPERANDS_8(d, 56)
#define OPERANDS_72(d) OPERANDS_64(d), OPERANDS_8(d, 64)
#define OPERANDS_80(d) OPERANDS_72(d), OPERANDS_8(d, 72)
#define OPERANDS_88(d) OPERANDS_80(d), OPERANDS_8(d, 80)
#define OPERANDS_96(d) OPERANDS_88(d), OPERANDS_8(d, 88)
#define NAMES_32 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NAMES_40 NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define NAMES_48 NAMES_40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define NAMES_56 NAMES_48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define NAMES_64 NAMES_56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define NAMES_72 NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define NAMES_80 NAMES_72 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define NAMES_88 NAMES_80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define NAMES_96 NAMES_88 ",%88,%89,%90,%91,%92,%93,%94,%95"

// d (+)= a * b for 64 rows, `columns` columns and 16 terms. `a` is a descriptor or four registers of elements, `b` a descriptor. The
// last arguments are the numbers of the operands behind the sums.
#define DEFINE_PRODUCTS(columns, sums, n0, n1, n2, n3, n4, n5, n6)                                                        \
  __device__ __forceinline__ void MultiplyShared(float (&d)[sums], unsigned long long a, unsigned long long b, int add) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n2 ", 0;\n"                                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." ELEMENT_NAME "." ELEMENT_NAME " "                \
                 "{" NAMES_##sums "}, %" #n0 ", %" #n1                                                                    \
                 ", p, 1, 1, 0, 0;\n}"                                                                                    \
                 : OPERANDS_##sums(d)                                                                                     \
                 : "l"(a), "l"(b), "r"(add));                                                                             \
  }                                                                                                                       \
  template <int kTransposed>                                                                                              \
  __device__ __forceinline__ void MultiplyRegisters(float (&d)[sums], const unsigned* a, unsigned long long b, int add) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #n5 ", 0;\n"                                                        \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." ELEMENT_NAME "." ELEMENT_NAME " "                \
                 "{" NAMES_##sums "}, {%" #n0 ", %" #n1 ", %" #n2                                                         \
                 ", %" #n3 "}, %" #n4 ", p, 1, 1, %" #n6 ";\n}"                                                           \
                 : OPERANDS_##sums(d)                                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(kTransposed));                       \
  }
DEFINE_PRODUCTS(64, 32, 32, 33, 34, 35, 36, 37, 38)
DEFINE_PRODUCTS(80, 40, 40, 41, 42, 43, 44, 45, 46)
DEFINE_PRODUCTS(96, 48, 48, 49, 50, 51, 52, 53, 54)
DEFINE_PRODUCTS(112, 56, 56, 57, 58, 59, 60, 61, 62)
DEFINE_PRODUCTS(128, 64, 64, 65, 66, 67, 68, 69, 70)
DEFINE_PRODUCTS(144, 72, 72, 73, 74, 75, 76, 77, 78)
DEFINE_PRODUCTS(160, 80, 80, 81, 82, 83, 84, 85, 86)
DEFINE_PRODUCTS(176, 88, 88, 89, 90, 91, 92, 93, 94)
DEFINE_PRODUCTS(192, 96, 96, 97, 98, 99, 100, 101, 102)

// The tensor cores run beside the threads: a fence before the first product that takes registers the threads have written, a
// commit behind the last of a batch, and a wait until at most `kLeft` batches are still running.
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

// How the tensor cores find a matrix in panels of 64 columns with the 128-byte swizzle: a low word with the address in units of 16
// bytes, below it the way to the next 64 columns (taken only where the columns run along the result), and a high word that never
// changes. Moving a matrix is one addition to the low word.
__device__ __forceinline__ unsigned LowWord(unsigned address, unsigned panel_bytes) { return panel_bytes >> 4 << 16 | address >> 4; }
__device__ __forceinline__ unsigned long long Descriptor(unsigned low) {
  constexpr unsigned kHigh = 1u << 30 | kSwizzleBytes >> 4;
  unsigned long long descriptor;
  asm("mov.b64 %0, {%1, %2};" : "=l"(descriptor) : "r"(low), "n"(kHigh));
  return descriptor;
}

__device__ __forceinline__ unsigned SharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Barriers in shared memory, 8 bytes each, by address.
__device__ __forceinline__ void InitBarrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void ArriveAndExpect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
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

// Barriers of warps, by number; 0 is __syncthreads' own.
__device__ __forceinline__ void SyncWarps(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void ArriveWarps(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Brings a box of rows from `row` of a head, every panel, to shared memory; rows past the end arrive as zeros.
__device__ __forceinline__ void Copy(unsigned to, unsigned panel_bytes, const TensorMap* map, int row, int head, unsigned barrier) {
#pragma unroll
  for (int p = 0; p < PANELS; ++p) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(
            to + p * panel_bytes),
        "l"(map), "r"(barrier), "r"(p * PANEL), "r"(row), "r"(head)
        : "memory");
  }
}

// A place in the ring of stages.
struct Stage {
  int index = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void Advance() {
    if (++index == STAGES) {
      index = 0;
      parity ^= 1;
    }
  }
};

// A block's shared memory, by address.
struct Layout {
  unsigned queries, keys, values, barriers;
  __device__ __forceinline__ explicit Layout(unsigned begin)
      : queries(begin),
        keys(queries + GROUPS * kQueryBytes),
        values(keys + STAGES * kTileBytes),
        barriers(values + STAGES * kTileBytes) {}
  __device__ __forceinline__ unsigned Query(int group) const { return queries + group * kQueryBytes; }
  __device__ __forceinline__ unsigned Key(int stage) const { return keys + stage * kTileBytes; }
  __device__ __forceinline__ unsigned Value(int stage) const { return values + stage * kTileBytes; }
  __device__ __forceinline__ unsigned KeyFull(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ unsigned KeyFree(int stage) const { return barriers + (STAGES + stage) * 8; }
  __device__ __forceinline__ unsigned ValueFull(int stage) const { return barriers + (2 * STAGES + stage) * 8; }
  __device__ __forceinline__ unsigned ValueFree(int stage) const { return barriers + (3 * STAGES + stage) * 8; }
  __device__ __forceinline__ unsigned QueryFull(int group) const { return barriers + (4 * STAGES + group) * 8; }
  __device__ __forceinline__ unsigned QueryFree(int group) const { return barriers + (4 * STAGES + GROUPS + group) * 8; }
};

// What a block computes at a time: up to BLOCK_M queries of one head, against `key_tiles` tiles of keys.
struct Work {
  int head, first_row, row_end, key_tiles;
};

// A block's share of all work. Every thread of it walks through the same list.
struct Schedule {
  int length, heads, next, end;

  __device__ __forceinline__ Schedule(int all_rows, int all_heads) : length(all_rows), heads(all_heads), next(0) {
    const int row_tiles = (length + BLOCK_M - 1) / BLOCK_M;
    end = (CAUSAL && EQUAL_SHARES ? (row_tiles + 1) / 2 : row_tiles) * heads;
    if (!CAUSAL && EQUAL_SHARES) {
      const int units = (length + 63) / 64 * heads;
      const int share = (units + gridDim.x - 1) / gridDim.x;
      next = min(blockIdx.x * share, units);
      end = min(next + share, units);
    }
  }

  __device__ __forceinline__ bool Next(Work& work) {
    if (!(CAUSAL ? NextCausal(work) : EQUAL_SHARES ? NextOfRun(work) : NextTile(work))) return false;
    work.key_tiles = ((CAUSAL ? work.row_end : length) + BLOCK_N - 1) / BLOCK_N;
    return true;
  }

  __device__ __forceinline__ bool NextOfRun(Work& work) {
    if (next >= end) return false;
    const int units = (length + 63) / 64;
    work.head = next / units;
    const int unit = next - work.head * units;
    const int take = min(min(GROUPS, units - unit), end - next);
    work.first_row = unit * 64;
    work.row_end = min(length, (unit + take) * 64);
    next += take;
    return true;
  }

  __device__ __forceinline__ bool NextTile(Work& work) {
    const int index = next++ * gridDim.x + blockIdx.x;
    if (index >= end) return false;
    const int row_tiles = (length + BLOCK_M - 1) / BLOCK_M;
    work.head = index / row_tiles;
    SetRows(work, index - work.head * row_tiles);
    return true;
  }

  __device__ __forceinline__ bool NextCausal(Work& work) {
    const int row_tiles = (length + BLOCK_M - 1) / BLOCK_M;
    if (EQUAL_SHARES) {
      const int pairs = (row_tiles + 1) / 2;
      const int index = next / 2 * gridDim.x + blockIdx.x;
      if (index >= end) return false;
      work.head = index / pairs;
      const int tile = index - work.head * pairs;
      const int partner = row_tiles - 1 - tile;
      SetRows(work, next % 2 == 0 ? partner : tile);
      next += tile == partner ? 2 : 1;   // the one in the middle is alone
      return true;
    }
    // Long work first, so that the short fills the gaps at the end; a few heads at a time, so that their keys stay in L2.
    const int index = next++ * gridDim.x + blockIdx.x;
    if (index >= end) return false;
    const int group = index / (HEAD_GROUP * row_tiles);
    const int group_heads = min(HEAD_GROUP, heads - group * HEAD_GROUP);
    const int rest = index - group * HEAD_GROUP * row_tiles;
    work.head = group * HEAD_GROUP + rest % group_heads;
    SetRows(work, row_tiles - 1 - rest / group_heads);
    return true;
  }

  __device__ __forceinline__ void SetRows(Work& work, int tile) {
    work.first_row = tile * BLOCK_M;
    work.row_end = min(length, work.first_row + BLOCK_M);
  }
};

// One thread: orders every copy, in the order in which the groups ask for them, as soon as there is room.
__device__ __forceinline__ void Produce(const Layout& at, const TensorMap* Q_map, const TensorMap* K_map, const TensorMap* V_map,
                                        int length, int heads) {
  Stage key, value;
  unsigned query_parity = 0;
  Schedule schedule(length, heads);
  for (Work work; schedule.Next(work);) {
    for (int n = work.key_tiles - 1; n >= -1; --n) {
      if (n >= 0) {
        Wait(at.KeyFree(key.index), key.parity ^ 1);
        ArriveAndExpect(at.KeyFull(key.index), kTileBytes);
        Copy(at.Key(key.index), kTilePanel, K_map, n * BLOCK_N, work.head / KV_GROUP, at.KeyFull(key.index));
        key.Advance();
      }
      if (n == work.key_tiles - 1) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
          Wait(at.QueryFree(g), query_parity ^ 1);
          ArriveAndExpect(at.QueryFull(g), kQueryBytes);
          Copy(at.Query(g), kQueryPanel, Q_map, work.first_row + g * 64, work.head, at.QueryFull(g));
        }
      } else {
        Wait(at.ValueFree(value.index), value.parity ^ 1);
        ArriveAndExpect(at.ValueFull(value.index), kTileBytes);
        Copy(at.Value(value.index), kTilePanel, V_map, (n + 1) * BLOCK_N, work.head / KV_GROUP, at.ValueFull(value.index));
        value.Advance();
      }
    }
    query_parity ^= 1;
  }
}

__device__ __forceinline__ float PowerOfTwo(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
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

// What a thread holds of its group's 64 rows. A warp has 16 of them and a thread two, lane / 4 and 8 further: element i of an
// accumulator is row i / 2 % 2 and column i / 4 * 8 + lane % 4 * 2 + i % 2.
struct Rows {
  float sums[HEAD_DIM / 2];
  float largest[2];   // of the raw scores so far
  float weights[2];   // sum over this thread's columns

  __device__ __forceinline__ void ClearSums() {
#pragma unroll
    for (int i = 0; i < HEAD_DIM / 2; ++i) sums[i] = 0.0f;
  }
  __device__ __forceinline__ void ClearWeights() {
    largest[0] = largest[1] = Lowest();
    weights[0] = weights[1] = 0.0f;
  }
};

// Keys from `end` on, counted from the tile's first one, do not count for the thread's rows.
__device__ __forceinline__ void Mask(float (&scores)[BLOCK_N / 2], int end0, int end1) {
  const int first = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < BLOCK_N / 2; ++i) {
    const int column = i / 4 * 8 + first + i % 2;
    if (column >= (i / 2 % 2 == 0 ? end0 : end1)) scores[i] = Lowest();
  }
}

// The largest score of row r of the thread's two, over all lanes that share it.
__device__ __forceinline__ float RowMax(const float (&scores)[BLOCK_N / 2], int r) {
  float most[2] = {scores[2 * r], scores[2 * r + 1]};
#pragma unroll
  for (int i = 4 + 2 * r; i < BLOCK_N / 2; i += 4) {
    most[0] = fmaxf(most[0], scores[i]);
    most[1] = fmaxf(most[1], scores[i + 1]);
  }
  return QuadMax(fmaxf(most[0], most[1]));
}

// The same of the bits as integers, three at a time. Positive numbers order as their bits do; a negative result says only that no
// score is positive.
__device__ __forceinline__ float RowMaxOfBits(const float (&scores)[BLOCK_N / 2], int r) {
  int most = max(__float_as_int(scores[2 * r]), __float_as_int(scores[2 * r + 1]));
#pragma unroll
  for (int i = 4 + 2 * r; i < BLOCK_N / 2; i += 4) {
    most = max(max(__float_as_int(scores[i]), __float_as_int(scores[i + 1])), most);
  }
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 1));
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 2));
  return __int_as_float(most);
}

// Turns scores into weights; `fade` is by how much what was summed before has to shrink.
__device__ __forceinline__ void ScoresToWeights(float (&scores)[BLOCK_N / 2], float scale, Rows& rows, float (&fade)[2]) {
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
    if (LAZY_RESCALE && (next - before) * scale <= kLazyGrowth) next = before;
    rows.largest[r] = next;
    // A row that has seen no key yet: anything finite will do.
    const float shift = next == Lowest() ? 0.0f : next * scale;
    fade[r] = next == before ? 1.0f : PowerOfTwo(fmaf(before, scale, -shift));
    float total[2] = {0.0f, 0.0f};
#pragma unroll
    for (int i = 2 * r; i < BLOCK_N / 2; i += 4) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        scores[i + e] = PowerOfTwo(fmaf(scores[i + e], scale, -shift));
        total[e] += scores[i + e];
      }
    }
    rows.weights[r] = fmaf(rows.weights[r], fade[r], total[0] + total[1]);
  }
}

// The accumulator's layout is that of a left operand, 16 columns a product, once the pairs are elements.
__device__ __forceinline__ void Pack(const float (&scores)[BLOCK_N / 2], unsigned (&weights)[BLOCK_N / 4]) {
#pragma unroll
  for (int i = 0; i < BLOCK_N / 4; ++i) {
    asm("cvt.rn." ELEMENT_NAME "x2.f32 %0, %1, %2;" : "=r"(weights[i]) : "f"(scores[2 * i + 1]), "f"(scores[2 * i]));
  }
}

// Starts scores = queries times keys.
__device__ __forceinline__ void StartScores(float (&scores)[BLOCK_N / 2], unsigned queries, const unsigned* held, unsigned keys) {
  const unsigned a = LowWord(queries, 16);
  const unsigned b = LowWord(keys, 16);
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) {
    const unsigned column = k % 4 * 2;   // 16 columns are 32 bytes
    const unsigned long long right = Descriptor(b + (k / 4 * kTilePanel >> 4) + column);
    if (QUERY_REGISTERS) {
      MultiplyRegisters<0>(scores, held + 4 * k, right, k > 0);
    } else {
      MultiplyShared(scores, Descriptor(a + (k / 4 * kQueryPanel >> 4) + column), right, k > 0);
    }
  }
  CommitProducts();
}

// Starts sums += weights times values.
__device__ __forceinline__ void StartSums(Rows& rows, const unsigned (&weights)[BLOCK_N / 4], unsigned values) {
  const unsigned b = LowWord(values, kTilePanel);
#pragma unroll
  for (int k = 0; k < BLOCK_N / 16; ++k) {
    MultiplyRegisters<1>(rows.sums, weights + 4 * k, Descriptor(b + k * (2 * kSwizzleBytes >> 4)), 1);
  }
  CommitProducts();
}

// A thread's part of the queries as left operands of the products; the swizzle is undone by hand.
__device__ __forceinline__ void LoadQueries(unsigned queries, unsigned* held) {
  const int lane = threadIdx.x % 32;
  const int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
  for (int k = 0; k < HEAD_DIM / 16; ++k) {
    const int chunk = (k % 4 * 2 + lane / 16) ^ (row % 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(held[4 * k]), "=r"(held[4 * k + 1]), "=r"(held[4 * k + 2]), "=r"(held[4 * k + 3])
                 : "r"(queries + k / 4 * kQueryPanel + row * 128 + chunk * 16)
                 : "memory");
  }
}

// Two elements in one register.
__device__ __forceinline__ unsigned PackPair(float low, float high) {
#if BF16
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
#else
  const half2 both = __floats2half2_rn(low, high);
#endif
  return *reinterpret_cast<const unsigned*>(&both);
}

// Divides by the weights and stores. Four lanes share a row and hold pairs of columns: they trade, so that each stores 16 bytes.
__device__ __forceinline__ void StoreRows(const float (&sums)[HEAD_DIM / 2], const float (&weights)[2], Element* out, int valid) {
  const int lane = threadIdx.x % 32;
  const int quad = lane % 4;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * r;
    const float share = 1.0f / QuadSum(weights[r]);
#pragma unroll
    for (int c = 0; c < HEAD_DIM / 32; ++c) {
      unsigned pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int i = (c * 4 + j) * 4 + 2 * r;
        pairs[j] = PackPair(sums[i] * share, sums[i + 1] * share);
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

// Where a group's turn at the tensor cores begins and ends.
__device__ __forceinline__ void BeginTurn(int group) {
  if (PING_PONG && GROUPS > 1) SyncWarps(1 + group, 256);
}
__device__ __forceinline__ void EndTurn(int group) {
  if (PING_PONG && GROUPS > 1) ArriveWarps(1 + (group + 1) % GROUPS, 256);
}

// Masks what the thread's rows must not see of key tile n, if anything.
__device__ __forceinline__ void MaskTile(float (&scores)[BLOCK_N / 2], int n, int group_row, int length) {
  const int first_key = n * BLOCK_N;
  if (CAUSAL) {
    if (first_key + BLOCK_N > group_row + 1) {
      const int row = group_row + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
      Mask(scores, min(length, row + 1) - first_key, min(length, row + 9) - first_key);
    }
  } else if (first_key + BLOCK_N > length) {
    Mask(scores, length - first_key, length - first_key);
  }
}

// The same for all threads of a warp, which the compiler cannot see of threadIdx: it keeps addresses in uniform registers then.
__device__ __forceinline__ int GroupIndex() { return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x / 128), 0); }

// A group that computes: 64 rows of every work of the block.
struct Consumer {
  const Layout& at;
  const int group;
  const bool leads_warp;
  const float scale;   // times log2(e)
  const int length;
  Stage key, value;
  unsigned query_parity;
  Rows rows;
  float scores[BLOCK_N / 2];
  unsigned weights[BLOCK_N / 4];
  unsigned held[QUERY_REGISTERS ? HEAD_DIM / 4 : 4];
  float fade[2];

  __device__ __forceinline__ Consumer(const Layout& layout, float score_scale, int keys)
      : at(layout),
        group(GroupIndex()),
        leads_warp(threadIdx.x % 32 == 0),
        scale(score_scale),
        length(keys),
        query_parity(0) {}

  __device__ __forceinline__ void Release(unsigned barrier) {
    if (leads_warp) Arrive(barrier);
  }

  __device__ __forceinline__ void WaitForKeys() { Wait(at.KeyFull(key.index), key.parity); }
  __device__ __forceinline__ void WaitForValues() { Wait(at.ValueFull(value.index), value.parity); }
  __device__ __forceinline__ void ReleaseKeys() {
    Release(at.KeyFree(key.index));
    key.Advance();
  }
  __device__ __forceinline__ void ReleaseValues() {
    Release(at.ValueFree(value.index));
    value.Advance();
  }
  __device__ __forceinline__ void TakeQueries() {
    Wait(at.QueryFull(group), query_parity);
    query_parity ^= 1;
    if (QUERY_REGISTERS) {
      LoadQueries(at.Query(group), held);
      Release(at.QueryFree(group));
    }
  }
  // Behind the last product that reads them from shared memory.
  __device__ __forceinline__ void ReleaseQueries() {
    if (!QUERY_REGISTERS) Release(at.QueryFree(group));
  }

  __device__ __forceinline__ void StartScoresOfTile() {
    BeginProducts();
    StartScores(scores, at.Query(group), held, at.Key(key.index));
  }
  __device__ __forceinline__ void StartSumsOfTile() {
    BeginProducts();
    StartSums(rows, weights, at.Value(value.index));
  }
  template <int kLeft>
  __device__ __forceinline__ void FinishScores() {
    WaitForProducts<kLeft>();
    PinRegisters(scores);
    ReleaseKeys();
  }
  __device__ __forceinline__ void FinishSums() {
    WaitForProducts<0>();
    PinRegisters(rows.sums);
    ReleaseValues();
  }

  // The first tile of a work, where the sums of the work before are complete.
  __device__ __forceinline__ void Begin(const Work& work, int group_row) {
    TakeQueries();
    WaitForKeys();
    StartScoresOfTile();
    FinishScores<0>();
    if (work.key_tiles == 1) ReleaseQueries();
    rows.ClearWeights();
    MaskTile(scores, work.key_tiles - 1, group_row, length);
    ScoresToWeights(scores, scale, rows, fade);
    rows.ClearSums();
    Pack(scores, weights);
  }

  // The last sums of a work.
  __device__ __forceinline__ void End(Element* out, int valid) {
    WaitForValues();
    StartSumsOfTile();
    FinishSums();
    StoreRows(rows.sums, rows.weights, out, valid);
  }

  // Both at once, the scores of the next work beside the sums of this one.
  __device__ __forceinline__ void Change(const Work& work, int group_row, Element* out, int valid) {
    TakeQueries();
    WaitForKeys();
    BeginTurn(group);
    StartScoresOfTile();
    WaitForValues();
    StartSumsOfTile();
    EndTurn(group);
    FinishScores<1>();
    if (work.key_tiles == 1) ReleaseQueries();
    const float before[2] = {rows.weights[0], rows.weights[1]};
    rows.ClearWeights();
    MaskTile(scores, work.key_tiles - 1, group_row, length);
    ScoresToWeights(scores, scale, rows, fade);
    FinishSums();
    StoreRows(rows.sums, before, out, valid);
    rows.ClearSums();
    Pack(scores, weights);
  }

  __device__ __forceinline__ void Fade() {
    if (LAZY_RESCALE && !__any_sync(0xffffffffu, fade[0] != 1.0f || fade[1] != 1.0f)) return;
#pragma unroll
    for (int i = 0; i < HEAD_DIM / 2; ++i) rows.sums[i] *= fade[i / 2 % 2];
  }

  // All of tile n, one step after the other: the other groups fill the gaps.
  __device__ __forceinline__ void Tile(int n, int group_row) {
    WaitForKeys();
    BeginTurn(group);
    StartScoresOfTile();
    EndTurn(group);
    FinishScores<0>();
    if (n == 0) ReleaseQueries();
    MaskTile(scores, n, group_row, length);
    ScoresToWeights(scores, scale, rows, fade);
    Fade();
    Pack(scores, weights);
    WaitForValues();
    StartSumsOfTile();
    FinishSums();
  }

  // The scores of tile n beside the sums of the one before.
  __device__ __forceinline__ void Continue(int n, int group_row) {
    WaitForKeys();
    BeginTurn(group);
    StartScoresOfTile();
    WaitForValues();
    StartSumsOfTile();
    EndTurn(group);
    FinishScores<1>();
    if (n == 0) ReleaseQueries();
    if (CAUSAL) MaskTile(scores, n, group_row, length);
    ScoresToWeights(scores, scale, rows, fade);
    FinishSums();
    Fade();
    Pack(scores, weights);
  }

  // For rows that are not there or another block's: the group only keeps step with the others.
  __device__ __forceinline__ void Skip() {
    Wait(at.QueryFull(group), query_parity);
    query_parity ^= 1;
    Release(at.QueryFree(group));
    WaitForKeys();
    ReleaseKeys();
  }
  __device__ __forceinline__ void SkipValues() {
    WaitForValues();
    ReleaseValues();
  }

  __device__ __forceinline__ void RunPlain(Element* O, int heads) {
    if (group == GROUPS - 1) EndTurn(group);
    Schedule schedule(length, heads);
    for (Work work; schedule.Next(work);) {
      const int group_row = work.first_row + group * 64;
      rows.ClearWeights();
      rows.ClearSums();
      TakeQueries();
      for (int n = work.key_tiles - 1; n >= 0; --n) Tile(n, group_row);
      StoreRows(rows.sums, rows.weights, O + (static_cast<long long>(work.head) * length + group_row) * HEAD_DIM, work.row_end - group_row);
    }
  }

  __device__ __forceinline__ void Run(Element* O, int heads) {
    if (group == GROUPS - 1) EndTurn(group);   // the first turn is group 0's
    Schedule schedule(length, heads);
    Work work;
    Element* out = O;
    int valid = 0;          // rows whose sums are not complete
    bool skipped = false;   // whether the values of the last tile are still to be passed over
    for (bool more = schedule.Next(work); more || valid > 0 || skipped;) {
      const int group_row = work.first_row + group * 64;
      const bool mine = more && group_row < work.row_end;
      if (mine && valid > 0) {
        Change(work, group_row, out, valid);
      } else {
        BeginTurn(group);
        EndTurn(group);
        if (valid > 0) End(out, valid);
        if (skipped) SkipValues();
        if (mine) Begin(work, group_row);
        if (more && !mine) Skip();
      }
      valid = mine ? work.row_end - group_row : 0;
      skipped = more && !mine;
      if (!more) break;
      out = O + (static_cast<long long>(work.head) * length + group_row) * HEAD_DIM;
      for (int n = work.key_tiles - 2; n >= 0; --n) {
        if (mine) {
          Continue(n, group_row);
        } else {
          WaitForKeys();
          BeginTurn(group);
          EndTurn(group);
          ReleaseKeys();
          SkipValues();
        }
      }
      more = schedule.Next(work);
    }
  }
};

__global__ void __launch_bounds__(THREADS, 1)
    attention_wgmma(const __grid_constant__ TensorMap Q_map, const __grid_constant__ TensorMap K_map,
                    const __grid_constant__ TensorMap V_map, Element* __restrict__ O, float scale, int length, int depth, int heads) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  // The swizzle counts from multiples of its own size.
  const Layout at((SharedAddress(shared_memory) + kSwizzleBytes - 1) / kSwizzleBytes * kSwizzleBytes);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      InitBarrier(at.KeyFull(s), 1);
      InitBarrier(at.KeyFree(s), 4 * GROUPS);
      InitBarrier(at.ValueFull(s), 1);
      InitBarrier(at.ValueFree(s), 4 * GROUPS);
    }
    for (int g = 0; g < GROUPS; ++g) {
      InitBarrier(at.QueryFull(g), 1);
      InitBarrier(at.QueryFree(g), 4);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");   // the copy engine sees them too
  }
  __syncthreads();
  if (GroupIndex() == GROUPS) {
    if (GROUPS > 1) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kProducerRegisters));
    if (threadIdx.x == GROUPS * 128) Produce(at, &Q_map, &K_map, &V_map, length, heads);
  } else {
    if (GROUPS > 1) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kConsumerRegisters));
    Consumer consumer(at, scale * kLog2E, length);
    if (OVERLAP) {
      consumer.Run(O, heads);
    } else {
      consumer.RunPlain(O, heads);
    }
  }
}
