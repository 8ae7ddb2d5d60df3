// Shared by wgmma.cu and wgmma_short.cu, where a warp group has 64 query rows as the left factor of its products: scores, weights and
// their layout in registers. The template defines HEAD_DIM, INTEGER_MAX, LAZY_RESCALE and ELEMENT_NAME.
#pragma once
#include "wgmma_parts.cuh"

// A lazy maximum lets weights grow to 2^8, far less than the largest half, 65504.
constexpr float kLazyGrowth = 8.0f;

// Eight 32-bit registers as operands, and their names as text.
#define OPERANDS_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define OPERANDS_32(d) OPERANDS_8(d, 0), OPERANDS_8(d, 8), OPERANDS_8(d, 16), OPERANDS_8(d, 24)
#define NAMES_32 \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"

// d (+)= a * b for 64 rows, `columns` columns and 16 terms. `a` is a descriptor or four registers of elements, `b` a descriptor. The
// last arguments are the numbers of the operands that follow the sums.
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

// Barriers of warps, by number; 0 is __syncthreads' own.
__device__ __forceinline__ void SyncWarps(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void ArriveWarps(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
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

// The largest score of row r of the thread's two, over all lanes that share it.
template <int kCount>
__device__ __forceinline__ float RowMax(const float (&scores)[kCount], int r) {
  float most[2] = {scores[2 * r], scores[2 * r + 1]};
#pragma unroll
  for (int i = 4 + 2 * r; i < kCount; i += 4) {
    most[0] = fmaxf(most[0], scores[i]);
    most[1] = fmaxf(most[1], scores[i + 1]);
  }
  return QuadMax(fmaxf(most[0], most[1]));
}

// The same, but it compares the bits as integers, three at a time. Positive numbers have the order of their bits; a negative result says
// only that no score is positive.
template <int kCount>
__device__ __forceinline__ float RowMaxOfBits(const float (&scores)[kCount], int r) {
  int most = max(__float_as_int(scores[2 * r]), __float_as_int(scores[2 * r + 1]));
#pragma unroll
  for (int i = 4 + 2 * r; i < kCount; i += 4) {
    most = max(max(__float_as_int(scores[i]), __float_as_int(scores[i + 1])), most);
  }
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 1));
  most = max(most, __shfl_xor_sync(0xffffffffu, most, 2));
  return __int_as_float(most);
}

// Turns scores into weights. The previous sums must be multiplied with `fade`.
template <int kCount>
__device__ __forceinline__ void ScoresToWeights(float (&scores)[kCount], float factor, Rows& rows, float (&fade)[2]) {
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
    // For a row that has seen no key yet any finite value will do.
    const float shift = next == Lowest() ? 0.0f : next * factor;
    fade[r] = next == before ? 1.0f : Exp2(fmaf(before, factor, -shift));
    float total[2] = {0.0f, 0.0f};
#pragma unroll
    for (int i = 2 * r; i < kCount; i += 4) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        scores[i + e] = Exp2(fmaf(scores[i + e], factor, -shift));
        total[e] += scores[i + e];
      }
    }
    rows.weights[r] = fmaf(rows.weights[r], fade[r], total[0] + total[1]);
  }
}

// Converts pairs of weights to elements. The accumulator then has the layout of left operands, one for every 16 columns.
template <int kCount>
__device__ __forceinline__ void Pack(const float (&scores)[kCount], unsigned (&weights)[kCount / 2]) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    asm("cvt.rn." ELEMENT_NAME "x2.f32 %0, %1, %2;" : "=r"(weights[i]) : "f"(scores[2 * i + 1]), "f"(scores[2 * i]));
  }
}

// Four lanes share a row and hold pairs of columns. They exchange pairs, a 4 x 4 transpose in two steps, so that each has 16 bytes of it.
__device__ __forceinline__ void TradePairs(unsigned (&pairs)[4]) {
  const int quad = threadIdx.x % 4;
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
}
