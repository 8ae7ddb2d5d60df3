// Attention by mma.sync for small grids: the warps of a block share its query rows and split the keys.
// A warp loads the chunks of keys that it needs itself and waits for these alone, so that there is no barrier of the block before
// the end; scores, weights and sums stay in registers; the key groups are put together once, through shared memory.
// evo:param BLOCK_M 16 32 64 128
// evo:param WARP_ROWS 16 32
// evo:param WARPS 4 8 16
// evo:param CHUNK 16 32 64
// evo:param SLOTS 1 2 4 8
// evo:constraint WARPS * WARP_ROWS % BLOCK_M == 0 && BLOCK_M % WARP_ROWS == 0
// evo:constraint WARPS * WARP_ROWS / BLOCK_M * max(SLOTS * CHUNK * 256, BLOCK_M * 296) <= 232448
// evo:constraint WARP_ROWS * CHUNK <= 2048 && WARPS * WARP_ROWS <= 256
// evo:requires sm_80
// evo:launch attention_mma_split(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK_M), H, B) block(32 * WARPS) \
//   shared(WARPS * WARP_ROWS / BLOCK_M * max(SLOTS * CHUNK * 256, BLOCK_M * 296))
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 32
#endif

// Query rows of a warp.
#ifndef WARP_ROWS
#define WARP_ROWS 32
#endif

#ifndef WARPS
#define WARPS 8
#endif

// Keys that a key group takes at a time.
#ifndef CHUNK
#define CHUNK 32
#endif

// Chunks that a key group has in shared memory or on their way.
#ifndef SLOTS
#define SLOTS 2
#endif

#ifndef CAUSAL
#define CAUSAL 0
#endif

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

#define QUERY_WARPS (BLOCK_M / WARP_ROWS)
#define KEY_GROUPS (WARPS / QUERY_WARPS)
#define GROUP_THREADS (32 * QUERY_WARPS)

// Elements that move together: 16 bytes.
constexpr int kVector = 8;
constexpr int kVectors = HEAD_DIM / kVector;   // of a row
constexpr int kTiles = WARP_ROWS / 16;         // of query rows of a warp
constexpr int kChunkElements = CHUNK * HEAD_DIM;
// Floats between the rows of a partial output; 8 more than the columns, against bank conflicts.
constexpr int kPartialStride = HEAD_DIM + 8;
constexpr int kPartialElements = BLOCK_M * (kPartialStride + 2) * 2;
constexpr int kGroupElements = 2 * SLOTS * kChunkElements > kPartialElements ? 2 * SLOTS * kChunkElements : kPartialElements;
// Below every score, and finite, so that the difference of two is never NaN.
constexpr float kLowest = -1.0e30f;
constexpr float kLog2E = 1.44269504f;

// Copies 16 bytes to shared memory behind the thread's back; zeros if not `valid`.
__device__ __forceinline__ void CopyAsync(unsigned to, const half* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0));
}

__device__ __forceinline__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most `pending` of the groups that this thread committed are on their way.
template <int pending>
__device__ __forceinline__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Barrier of the warps that share a key group.
__device__ __forceinline__ void SyncGroup(int group) {
  if (QUERY_WARPS == 1) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(GROUP_THREADS) : "memory");
  }
}

// Four 8 x 8 matrices of shared memory, transposed: a lane gives the address of one row of 16 bytes.
__device__ __forceinline__ void LoadTransposed(unsigned from, unsigned (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

// sums += a b with a 16 x 16, b 16 x 8.
__device__ __forceinline__ void MultiplyAdd(float (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                            unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned Pack(float low, float high) {
  const half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

__device__ __forceinline__ float Exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Where the 16 bytes number `vector` of a row stand in it: the eight rows of a matrix and the two rows that eight lanes read lie
// in different banks.
__device__ __forceinline__ int Swizzle(int row, int vector) { return vector ^ ((row & 1) << 2 | (row >> 1 & 3)); }

// Starts copying the rows first .. first + CHUNK - 1 of a head; those from `length` on become zero.
__device__ __forceinline__ void CopyChunk(unsigned to, const half* head, int first, int length, int thread) {
#pragma unroll
  for (int i = 0; i < CHUNK * kVectors / GROUP_THREADS; ++i) {
    const int index = i * GROUP_THREADS + thread;
    const int row = index / kVectors;
    const int vector = index % kVectors;
    const bool valid = first + row < length;
    CopyAsync(to + (row * HEAD_DIM + Swizzle(row, vector) * kVector) * 2, head + (valid ? (first + row) * HEAD_DIM : 0) + vector * kVector,
              valid);
  }
}

// One of the two registers that a multiplication takes of 16 bytes.
__device__ __forceinline__ unsigned Half(const uint4& value, int step, int part) {
  return step == 0 ? (part == 0 ? value.x : value.y) : (part == 0 ? value.z : value.w);
}

__global__ void __launch_bounds__(32 * WARPS) attention_mma_split(const half* __restrict__ Q, const half* __restrict__ K,
                                                                  const half* __restrict__ V, half* __restrict__ O, float scale,
                                                                  int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int quad = lane / 4;      // the row of a tile, and the key of eight, that the lane has in its registers
  const int member = lane % 4;
  const int group = warp / QUERY_WARPS;
  const int group_thread = threadIdx.x % GROUP_THREADS;
  const int first_row = blockIdx.x * BLOCK_M;
  const int warp_row = warp % QUERY_WARPS * WARP_ROWS;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  const half* keys_of_head = K + head;
  const half* values_of_head = V + head;
  half* group_memory = reinterpret_cast<half*>(shared_memory) + group * kGroupElements;
  const unsigned group_address = static_cast<unsigned>(__cvta_generic_to_shared(group_memory));
  const int end = CAUSAL ? min(length, first_row + BLOCK_M) : length;   // keys that some row of the block needs

#pragma unroll
  for (int i = 0; i < SLOTS; ++i) {
    const int first = (i * KEY_GROUPS + group) * CHUNK;
    if (first < end) CopyChunk(group_address + i * 2 * kChunkElements * 2, keys_of_head, first, length, group_thread);
    CommitCopies();
    if (first < end) CopyChunk(group_address + (i * 2 + 1) * kChunkElements * 2, values_of_head, first, length, group_thread);
    CommitCopies();
  }

  // A lane holds the vectors member, member + 4, .. of its rows. The products sum over the columns in that order, for keys too.
  uint4 query[kTiles][2][HEAD_DIM / 32];
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = min(first_row + warp_row + m * 16 + r * 8 + quad, length - 1);
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 32; ++c) {
        query[m][r][c] = *reinterpret_cast<const uint4*>(Q + head + row * HEAD_DIM + (member + 4 * c) * kVector);
      }
    }
  }

  float sums[kTiles][HEAD_DIM / 8][4] = {};
  float largest[kTiles][2];
  float weights[kTiles][2] = {};
#pragma unroll
  for (int m = 0; m < kTiles; ++m) largest[m][0] = largest[m][1] = kLowest;
  const float factor = scale * kLog2E;

  int slot = 0;
  for (int first = group * CHUNK; first < end; first += KEY_GROUPS * CHUNK) {
    const half* keys = group_memory + slot * 2 * kChunkElements;
    const unsigned values = group_address + (slot * 2 + 1) * kChunkElements * 2;
    WaitForCopies<2 * SLOTS - 1>();
    SyncGroup(group);

    float scores[kTiles][CHUNK / 8][4] = {};
#pragma unroll
    for (int n = 0; n < CHUNK / 8; ++n) {
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 32; ++c) {
        const uint4 key = *reinterpret_cast<const uint4*>(keys + (n * 8 + quad) * HEAD_DIM + Swizzle(quad, member + 4 * c) * kVector);
#pragma unroll
        for (int s = 0; s < 2; ++s) {
#pragma unroll
          for (int m = 0; m < kTiles; ++m) {
            MultiplyAdd(scores[m][n], Half(query[m][0][c], s, 0), Half(query[m][1][c], s, 0), Half(query[m][0][c], s, 1),
                        Half(query[m][1][c], s, 1), Half(key, s, 0), Half(key, s, 1));
          }
        }
      }
    }

    const bool masked = first + CHUNK > (CAUSAL ? min(length, first_row + warp_row + 1) : length);
    if (masked) {
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
#pragma unroll
        for (int n = 0; n < CHUNK / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int row = first_row + warp_row + m * 16 + e / 2 * 8 + quad;
            const int limit = CAUSAL ? min(length, row + 1) : length;
            if (first + n * 8 + member * 2 + e % 2 >= limit) scores[m][n][e] = -INFINITY;
          }
        }
      }
    }

    // Online softmax; a row is spread over the four lanes of a quad. `weights` are the sums of this lane's keys.
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float next = largest[m][r];
#pragma unroll
        for (int n = 0; n < CHUNK / 8; ++n) next = fmaxf(next, fmaxf(scores[m][n][2 * r], scores[m][n][2 * r + 1]));
        next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
        next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 2));
        const float fade = Exp2((largest[m][r] - next) * factor);
        largest[m][r] = next;
        const float shift = next * factor;
        float sum = weights[m][r] * fade;
#pragma unroll
        for (int n = 0; n < CHUNK / 8; ++n) {
          scores[m][n][2 * r] = Exp2(scores[m][n][2 * r] * factor - shift);
          scores[m][n][2 * r + 1] = Exp2(scores[m][n][2 * r + 1] * factor - shift);
          sum += scores[m][n][2 * r] + scores[m][n][2 * r + 1];
        }
        weights[m][r] = sum;
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 8; ++d) {
          sums[m][d][2 * r] *= fade;
          sums[m][d][2 * r + 1] *= fade;
        }
      }
    }

    WaitForCopies<2 * SLOTS - 2>();
    SyncGroup(group);
    // The scores' registers are laid out as those of a left factor are.
#pragma unroll
    for (int k = 0; k < CHUNK / 16; ++k) {
      unsigned left[kTiles][4];
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
#pragma unroll
        for (int e = 0; e < 4; ++e) left[m][e] = Pack(scores[m][2 * k + e / 2][e % 2 * 2], scores[m][2 * k + e / 2][e % 2 * 2 + 1]);
      }
      const int row = k * 16 + lane % 16;
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 16; ++d) {
        unsigned value[4];
        LoadTransposed(values + (row * HEAD_DIM + Swizzle(lane % 8, 2 * d + lane / 16) * kVector) * 2, value);
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          MultiplyAdd(sums[m][2 * d], left[m][0], left[m][1], left[m][2], left[m][3], value[0], value[1]);
          MultiplyAdd(sums[m][2 * d + 1], left[m][0], left[m][1], left[m][2], left[m][3], value[2], value[3]);
        }
      }
    }

    const int later = first + SLOTS * KEY_GROUPS * CHUNK;
    if (later < end) {
      SyncGroup(group);   // nobody reads the slot any more
      CopyChunk(group_address + slot * 2 * kChunkElements * 2, keys_of_head, later, length, group_thread);
      CommitCopies();
      CopyChunk(group_address + (slot * 2 + 1) * kChunkElements * 2, values_of_head, later, length, group_thread);
    } else {
      CommitCopies();   // groups are counted
    }
    CommitCopies();
    slot = slot + 1 == SLOTS ? 0 : slot + 1;
  }

  // The group's chunks give way to its partial outputs: rows, then for each row its largest score and its weight.
  SyncGroup(group);
  float* partial = reinterpret_cast<float*>(group_memory);
  float2* states = reinterpret_cast<float2*>(partial + BLOCK_M * kPartialStride);
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = warp_row + m * 16 + r * 8 + quad;
      float sum = weights[m][r];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      if (member == 0) states[row] = make_float2(largest[m][r] * factor, sum);
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 8; ++d) {
        *reinterpret_cast<float2*>(partial + row * kPartialStride + d * 8 + member * 2) =
            make_float2(sums[m][d][2 * r], sums[m][d][2 * r + 1]);
      }
    }
  }
  __syncthreads();

  constexpr int kQuarters = HEAD_DIM / 4;
  const float* all = reinterpret_cast<const float*>(shared_memory);
#pragma unroll
  for (int i = threadIdx.x; i < BLOCK_M * kQuarters; i += 32 * WARPS) {
    const int row = i / kQuarters;
    const int column = i % kQuarters * 4;
    if (first_row + row >= length) continue;
    float2 state[KEY_GROUPS];
    float top = kLowest;
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      state[g] = reinterpret_cast<const float2*>(all + g * (kGroupElements / 2) + BLOCK_M * kPartialStride)[row];
      top = fmaxf(top, state[g].x);
    }
    float weight = 0.0f;
    float4 result = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int g = 0; g < KEY_GROUPS; ++g) {
      const float share = Exp2(state[g].x - top);
      const float4 four = *reinterpret_cast<const float4*>(all + g * (kGroupElements / 2) + row * kPartialStride + column);
      weight += share * state[g].y;
      result.x += share * four.x;
      result.y += share * four.y;
      result.z += share * four.z;
      result.w += share * four.w;
    }
    const float inverse = 1.0f / weight;
    *reinterpret_cast<uint2*>(O + head + (first_row + row) * HEAD_DIM + column) =
        make_uint2(Pack(result.x * inverse, result.y * inverse), Pack(result.z * inverse, result.w * inverse));
  }
}
