// Attention fused over tiles of keys by mma.sync: FlashAttention-2's shape. A block has BLOCK_M query rows and walks the keys in tiles
// of BLOCK_N that come through a ring of STAGES by cp.async; scores, weights and sums stay in registers, and the weights are the
// left factor of the second product without leaving them. Causal blocks stop at their diagonal; the longest ones start first.
// evo:param BLOCK_M 32 64 128 256
// evo:param BLOCK_N 16 32 64 128
// evo:param WARP_ROWS 16 32
// evo:param STAGES 2 3 4
// evo:param QUERY_IN_REGISTERS 0 1
// evo:param MIN_BLOCKS 1 2 3
// evo:constraint BLOCK_M % WARP_ROWS == 0 && BLOCK_M / WARP_ROWS <= 16
// evo:constraint BLOCK_N * 8 % (BLOCK_M / WARP_ROWS * 32) == 0
// evo:constraint MIN_BLOCKS * BLOCK_M / WARP_ROWS <= 16
// evo:constraint MIN_BLOCKS * (STAGES * BLOCK_N * 256 + (1 - QUERY_IN_REGISTERS) * BLOCK_M * 128 + 1024) <= 233472
// evo:requires sm_80
// evo:launch attention_mma(Q, K, V, O, scale, S, D) grid(ceil_div(S, BLOCK_M), H, B) block(BLOCK_M / WARP_ROWS * 32) \
//   shared(STAGES * BLOCK_N * 256 + (1 - QUERY_IN_REGISTERS) * BLOCK_M * 128)
#include <cuda_fp16.h>

// Query rows of a block.
#ifndef BLOCK_M
#define BLOCK_M 128
#endif

// Keys of a tile.
#ifndef BLOCK_N
#define BLOCK_N 64
#endif

// Query rows of a warp.
#ifndef WARP_ROWS
#define WARP_ROWS 32
#endif

// Tiles in shared memory or on their way.
#ifndef STAGES
#define STAGES 2
#endif

// Whether a warp holds its query rows in registers, or reads them again for every tile.
#ifndef QUERY_IN_REGISTERS
#define QUERY_IN_REGISTERS 1
#endif

// Blocks that a processor must have room for: bounds the registers.
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 2
#endif

#ifndef CAUSAL
#define CAUSAL 0
#endif

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

#define THREADS (BLOCK_M / WARP_ROWS * 32)

// Elements that move together: 16 bytes.
constexpr int kVector = 8;
constexpr int kVectors = HEAD_DIM / kVector;   // of a row
constexpr int kTiles = WARP_ROWS / 16;         // of query rows of a warp
constexpr int kTileElements = BLOCK_N * HEAD_DIM;
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

// Starts copying `rows` rows of a head from `first` on; those from `length` on become zero.
template <int rows>
__device__ __forceinline__ void CopyRows(unsigned to, const half* head, int first, int length) {
#pragma unroll
  for (int i = 0; i < rows * kVectors / THREADS; ++i) {
    const int index = i * THREADS + threadIdx.x;
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

// Writes 32 columns of a row that a quad holds in pairs of columns: four lanes exchange pairs until each has 16 bytes.
__device__ __forceinline__ void StoreColumns(half* row, const unsigned (&pairs)[4], bool valid) {
  const int member = threadIdx.x % 4;
  unsigned p[4] = {pairs[0], pairs[1], pairs[2], pairs[3]};
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    const bool upper = member & step;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i & step) continue;
      const unsigned other = __shfl_xor_sync(0xffffffffu, upper ? p[i] : p[i + step], step);
      if (upper) {
        p[i] = other;
      } else {
        p[i + step] = other;
      }
    }
  }
  if (valid) *reinterpret_cast<uint4*>(row + member * kVector) = make_uint4(p[0], p[1], p[2], p[3]);
}

__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) attention_mma(const half* __restrict__ Q, const half* __restrict__ K,
                                                                     const half* __restrict__ V, half* __restrict__ O, float scale,
                                                                     int length, int depth) {
  if (depth != HEAD_DIM) return;   // compiled for another shape: leaves the output as it is, which no check passes
  extern __shared__ uint4 shared_memory[];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int quad = lane / 4;      // the row of a tile, and the key of eight, that the lane has in its registers
  const int member = lane % 4;
  const int block = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const int first_row = block * BLOCK_M;
  const int warp_row = warp * WARP_ROWS;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * length * HEAD_DIM;
  const half* keys_of_head = K + head;
  const half* values_of_head = V + head;
  half* ring = reinterpret_cast<half*>(shared_memory);
  const unsigned ring_address = static_cast<unsigned>(__cvta_generic_to_shared(ring));
  const half* queries = ring + STAGES * 2 * kTileElements + warp_row * HEAD_DIM;
  const int end = CAUSAL ? min(length, first_row + BLOCK_M) : length;   // keys that some row of the block needs

  if (!QUERY_IN_REGISTERS) CopyRows<BLOCK_M>(ring_address + STAGES * 2 * kTileElements * 2, Q + head, first_row, length);
#pragma unroll
  for (int i = 0; i < STAGES - 1; ++i) {
    if (i * BLOCK_N < end) {
      CopyRows<BLOCK_N>(ring_address + i * 2 * kTileElements * 2, keys_of_head, i * BLOCK_N, length);
      CopyRows<BLOCK_N>(ring_address + (i * 2 + 1) * kTileElements * 2, values_of_head, i * BLOCK_N, length);
    }
    CommitCopies();
  }

  // A lane holds the vectors member, member + 4, .. of its rows. The products sum over the columns in that order, for keys too.
  uint4 query[kTiles][2][HEAD_DIM / 32];
  if (QUERY_IN_REGISTERS) {
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
  }

  float sums[kTiles][HEAD_DIM / 8][4] = {};
  float largest[kTiles][2];
  float weights[kTiles][2] = {};
#pragma unroll
  for (int m = 0; m < kTiles; ++m) largest[m][0] = largest[m][1] = kLowest;
  const float factor = scale * kLog2E;

  int stage = 0;
  for (int first = 0; first < end; first += BLOCK_N) {
    WaitForCopies<STAGES - 2>();
    __syncthreads();   // the tile is there for all, and nobody reads the one before any more
    {
      const int later = first + (STAGES - 1) * BLOCK_N;
      const int slot = stage == 0 ? STAGES - 1 : stage - 1;
      if (later < end) {
        CopyRows<BLOCK_N>(ring_address + slot * 2 * kTileElements * 2, keys_of_head, later, length);
        CopyRows<BLOCK_N>(ring_address + (slot * 2 + 1) * kTileElements * 2, values_of_head, later, length);
      }
      CommitCopies();   // groups are counted, so that an empty one counts too
    }
    const half* keys = ring + stage * 2 * kTileElements;
    const unsigned values = ring_address + (stage * 2 + 1) * kTileElements * 2;

    float scores[kTiles][BLOCK_N / 8][4] = {};
#pragma unroll
    for (int c = 0; c < HEAD_DIM / 32; ++c) {
      if (!QUERY_IN_REGISTERS) {
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            query[m][r][c] = *reinterpret_cast<const uint4*>(queries + (m * 16 + r * 8 + quad) * HEAD_DIM +
                                                             Swizzle(quad, member + 4 * c) * kVector);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < BLOCK_N / 8; ++n) {
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

    const bool masked = first + BLOCK_N > (CAUSAL ? min(length, first_row + warp_row + 1) : length);
    if (masked) {
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
#pragma unroll
        for (int n = 0; n < BLOCK_N / 8; ++n) {
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
        for (int n = 0; n < BLOCK_N / 8; ++n) next = fmaxf(next, fmaxf(scores[m][n][2 * r], scores[m][n][2 * r + 1]));
        next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 1));
        next = fmaxf(next, __shfl_xor_sync(0xffffffffu, next, 2));
        const float fade = Exp2((largest[m][r] - next) * factor);
        largest[m][r] = next;
        const float shift = next * factor;
        float sum = weights[m][r] * fade;
#pragma unroll
        for (int n = 0; n < BLOCK_N / 8; ++n) {
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

    // The scores' registers are laid out as those of a left factor are.
#pragma unroll
    for (int k = 0; k < BLOCK_N / 16; ++k) {
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

    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }

#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_row + warp_row + m * 16 + r * 8 + quad;
      float sum = weights[m][r];
      sum += __shfl_xor_sync(0xffffffffu, sum, 1);
      sum += __shfl_xor_sync(0xffffffffu, sum, 2);
      const float inverse = 1.0f / sum;
#pragma unroll
      for (int d = 0; d < HEAD_DIM / 32; ++d) {
        unsigned pairs[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) pairs[i] = Pack(sums[m][d * 4 + i][2 * r] * inverse, sums[m][d * 4 + i][2 * r + 1] * inverse);
        StoreColumns(O + head + row * HEAD_DIM + d * 32, pairs, row < length);
      }
    }
  }
}
