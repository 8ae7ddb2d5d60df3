// Attention for Hopper, with warp-group products that read shared memory, tiles that the copy engine brings, and persistent blocks. One
// warp group starts the copies. Each of the others owns 64 query rows, keeps their scores and sums in registers, and turns scores into
// weights while the tensor cores compute the next scores. docs/attention_wgmma.md explains it in full.
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
// evo:constraint QUERY_REGISTERS == 0 || OVERLAP == 1 || BLOCK_N > HEAD_DIM
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

// Query rows of a block: 64 for each group that computes.
#ifndef BLOCK_M
#define BLOCK_M 192
#endif

// Keys of a tile.
#ifndef BLOCK_N
#define BLOCK_N 128
#endif

// Key tiles, and value tiles, that are being copied or in use.
#ifndef STAGES
#define STAGES 2
#endif

// Whether a group computes the scores of a tile at the same time as the sums of the previous one, which takes more registers.
#ifndef OVERLAP
#define OVERLAP 1
#endif

// Whether the groups start their products alternately.
#ifndef PING_PONG
#define PING_PONG 1
#endif

// Whether the queries stay in registers instead of being read from shared memory for every tile.
#ifndef QUERY_REGISTERS
#define QUERY_REGISTERS 0
#endif

// Whether a maximum that grew by less than 2^8 is kept, which saves rescaling the sums.
#ifndef LAZY_RESCALE
#define LAZY_RESCALE 0
#endif

// Whether the largest score is found by comparing integers, three at a time.
#ifndef INTEGER_MAX
#define INTEGER_MAX 1
#endif

// The largest number of blocks; each processes one tile of queries after another. An H100 or H200 has 132 multiprocessors; with a million
// every block has one tile.
#ifndef RESIDENT
#define RESIDENT 132
#endif

// Whether blocks get equal shares of the work, instead of tiles at a fixed distance: runs of rows of nearly equal length, in steps of 64
// rows; or, if causal, pairs of a long tile and a short one.
#ifndef EQUAL_SHARES
#define EQUAL_SHARES 1
#endif

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

// Whether a query sees only the keys up to its own position.
#ifndef CAUSAL
#define CAUSAL 0
#endif

// Whether elements are __nv_bfloat16 instead of half.
#ifndef BF16
#define BF16 0
#endif

// Query heads that share a head of keys and values.
#ifndef KV_GROUP
#define KV_GROUP 1
#endif

// Causal: heads whose tiles are processed together, the longest tiles first.
#ifndef HEAD_GROUP
#define HEAD_GROUP 8
#endif

#define GROUPS (BLOCK_M / 64)
#define THREADS (128 * (GROUPS + 1))
// Columns of a panel: 128 bytes, the width of the swizzle.
#define PANEL 64
#define PANELS (HEAD_DIM / PANEL)

#include "element.cuh"
#include "wgmma_rows.cuh"

// Bytes.
constexpr int kQueryBytes = 64 * HEAD_DIM * 2;       // of one group
constexpr int kTileBytes = BLOCK_N * HEAD_DIM * 2;   // of keys or of values
constexpr int kQueryPanel = 64 * PANEL * 2;
constexpr int kTilePanel = BLOCK_N * PANEL * 2;

// Registers of a thread after they are reassigned. In sum they may not exceed what all groups had at the start: 168, 128 and 96 for each
// thread with two, three and four groups. One group alone has enough.
constexpr int kProducerRegisters = GROUPS == 2 ? 24 : 32;
constexpr int kConsumerRegisters = GROUPS == 2 ? 240 : GROUPS == 3 ? 160 : 112;

#define OPERANDS_40(d) OPERANDS_32(d), OPERANDS_8(d, 32)
#define OPERANDS_48(d) OPERANDS_40(d), OPERANDS_8(d, 40)
#define OPERANDS_56(d) OPERANDS_48(d), OPERANDS_8(d, 48)
#define OPERANDS_64(d) OPERANDS_56(d), OPERANDS_8(d, 56)
#define OPERANDS_72(d) OPERANDS_64(d), OPERANDS_8(d, 64)
#define OPERANDS_80(d) OPERANDS_72(d), OPERANDS_8(d, 72)
#define OPERANDS_88(d) OPERANDS_80(d), OPERANDS_8(d, 80)
#define OPERANDS_96(d) OPERANDS_88(d), OPERANDS_8(d, 88)
#define NAMES_40 NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39"
#define NAMES_48 NAMES_40 ",%40,%41,%42,%43,%44,%45,%46,%47"
#define NAMES_56 NAMES_48 ",%48,%49,%50,%51,%52,%53,%54,%55"
#define NAMES_64 NAMES_56 ",%56,%57,%58,%59,%60,%61,%62,%63"
#define NAMES_72 NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define NAMES_80 NAMES_72 ",%72,%73,%74,%75,%76,%77,%78,%79"
#define NAMES_88 NAMES_80 ",%80,%81,%82,%83,%84,%85,%86,%87"
#define NAMES_96 NAMES_88 ",%88,%89,%90,%91,%92,%93,%94,%95"

DEFINE_PRODUCTS(80, 40, 40, 41, 42, 43, 44, 45, 46)
DEFINE_PRODUCTS(96, 48, 48, 49, 50, 51, 52, 53, 54)
DEFINE_PRODUCTS(112, 56, 56, 57, 58, 59, 60, 61, 62)
DEFINE_PRODUCTS(128, 64, 64, 65, 66, 67, 68, 69, 70)
DEFINE_PRODUCTS(144, 72, 72, 73, 74, 75, 76, 77, 78)
DEFINE_PRODUCTS(160, 80, 80, 81, 82, 83, 84, 85, 86)
DEFINE_PRODUCTS(176, 88, 88, 89, 90, 91, 92, 93, 94)
DEFINE_PRODUCTS(192, 96, 96, 97, 98, 99, 100, 101, 102)

// Describes a matrix in panels of 64 columns with the 128-byte swizzle to the tensor cores. The low word has the address in its lower half
// and the distance to the next 64 columns in its upper half, both in units of 16 bytes; the distance is used only where the columns run
// along the result. The high word never changes. Adding to the low word moves the matrix.
__device__ __forceinline__ unsigned LowWord(unsigned address, unsigned panel_bytes) { return panel_bytes >> 4 << 16 | address >> 4; }
__device__ __forceinline__ unsigned long long Descriptor(unsigned low) {
  constexpr unsigned kHigh = 1u << 30 | kSwizzleBytes >> 4;
  unsigned long long descriptor;
  asm("mov.b64 %0, {%1, %2};" : "=l"(descriptor) : "r"(low), "n"(kHigh));
  return descriptor;
}

// Barriers in shared memory, 8 bytes each, by address.
__device__ __forceinline__ void InitBarrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Brings a box of rows from `row` of a head, every panel, to shared memory; rows past the end arrive as zeros.
__device__ __forceinline__ void Copy(unsigned to, unsigned panel_bytes, const TensorMap* map, int row, int head, unsigned barrier) {
#pragma unroll
  for (int p = 0; p < PANELS; ++p) {
    CopyBox(to + p * panel_bytes, map, p * PANEL, row, head, barrier);
  }
}

// A position in the ring of stages.
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

// The work of a block at a time: up to BLOCK_M queries of one head, against `key_tiles` tiles of keys.
struct Work {
  int head, first_row, row_end, key_tiles;
};

// A block's share of all work. Every thread of the block goes through the same list.
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
      next += tile == partner ? 2 : 1;   // the tile in the middle has no partner
      return true;
    }
    // Long work comes first, so that short work fills the gaps at the end. Few heads run at a time, so that their keys stay in L2.
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

// Run by one thread: starts every copy as soon as there is room, in the order in which the groups need them.
__device__ __forceinline__ void Produce(const Layout& at, const TensorMap* Q_map, const TensorMap* K_map, const TensorMap* V_map,
                                        int length, int heads) {
  Stage key, value;
  unsigned query_parity = 0;
  Schedule schedule(length, heads);
  for (Work work; schedule.Next(work);) {
    for (int n = work.key_tiles - 1; n >= -1; --n) {
      if (n >= 0) {
        Wait(at.KeyFree(key.index), key.parity ^ 1);
        Expect(at.KeyFull(key.index), kTileBytes);
        Copy(at.Key(key.index), kTilePanel, K_map, n * BLOCK_N, work.head / KV_GROUP, at.KeyFull(key.index));
        key.Advance();
      }
      if (n == work.key_tiles - 1) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
          Wait(at.QueryFree(g), query_parity ^ 1);
          Expect(at.QueryFull(g), kQueryBytes);
          Copy(at.Query(g), kQueryPanel, Q_map, work.first_row + g * 64, work.head, at.QueryFull(g));
        }
      } else {
        Wait(at.ValueFree(value.index), value.parity ^ 1);
        Expect(at.ValueFull(value.index), kTileBytes);
        Copy(at.Value(value.index), kTilePanel, V_map, (n + 1) * BLOCK_N, work.head / KV_GROUP, at.ValueFull(value.index));
        value.Advance();
      }
    }
    query_parity ^= 1;
  }
}

// Keys from `end` on, counted from the tile's first one, do not count for the thread's rows.
__device__ __forceinline__ void Mask(float (&scores)[BLOCK_N / 2], int end0, int end1) {
  const int first = threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < BLOCK_N / 2; ++i) {
    const int column = i / 4 * 8 + first + i % 2;
    if (column >= (i / 2 % 2 == 0 ? end0 : end1)) scores[i] = Lowest();
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

// Loads a thread's part of the queries as left operands of the products, and undoes the swizzle.
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

// Divides by the weights and stores. Each lane stores 16 bytes at a time.
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
        pairs[j] = Pack(sums[i] * share, sums[i + 1] * share);
      }
      TradePairs(pairs);
      if (row < valid) {
        *reinterpret_cast<uint4*>(out + static_cast<long long>(row) * HEAD_DIM + c * 32 + quad * 8) =
            make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
      }
    }
  }
}

// Begin and end of a group's turn to start products.
__device__ __forceinline__ void BeginTurn(int group) {
  if (PING_PONG && GROUPS > 1) SyncWarps(1 + group, 256);
}
__device__ __forceinline__ void EndTurn(int group) {
  if (PING_PONG && GROUPS > 1) ArriveWarps(1 + (group + 1) % GROUPS, 256);
}

// Masks the keys of tile n that the thread's rows must not see, if there are any.
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

// The shuffle tells the compiler that the index is the same for all threads of a warp, so that it keeps addresses in uniform registers.
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
  // To be called after the last product that reads them from shared memory.
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

  // The first tile of a work when the sums of the previous work are complete.
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

  // End and Begin at once: the scores of the next work at the same time as the last sums of this one.
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

  // All of tile n, one step after the other. The other groups use the tensor cores in the meantime.
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

  // The scores of tile n at the same time as the sums of the previous tile.
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

  // For rows past the end or of another block: the group only keeps in step with the others.
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
    bool skipped = false;   // whether the values of the last tile are still to be skipped
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
  if (depth != HEAD_DIM) return;   // compiled for another shape; the output is not written, which every check finds
  extern __shared__ uint4 shared_memory[];
  // The swizzle needs an address that is a multiple of its size.
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
