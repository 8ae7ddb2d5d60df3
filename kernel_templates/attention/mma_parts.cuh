// Shared by mma.cu and mma_split.cu: copies, products and a warp's query rows. The template defines BF16, CAUSAL, HEAD_DIM and WARP_ROWS.
#pragma once
#include "element.cuh"

// Elements that one access moves: 16 bytes.
constexpr int kVector = 8;
constexpr int kVectors = HEAD_DIM / kVector;   // of a row
constexpr int kTiles = WARP_ROWS / 16;         // of query rows of a warp
// Less than every score, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -1.0e30f;
// The score of a key that a row does not see. It is so low that the weight is zero even where a row has seen no other key.
constexpr float kMasked = -3.0e38f;
constexpr float kLog2E = 1.44269504f;

// What a lane holds of its warp's rows. In a tile of 16 query rows these are the rows lane / 4 and lane / 4 + 8. Of a query row
// it has every fourth vector; the products sum over the columns in this order, so that keys are read in it too. Of scores and sums it has
// two neighbouring columns of every eight: in pairs, the registers of scores are those that a left factor of the next product needs.
using Query = uint4[kTiles][2][HEAD_DIM / 32];
using Sums = float[kTiles][HEAD_DIM / 8][4];
using RowState = float[kTiles][2];

// Starts copying 16 bytes to shared memory; zeros if not `valid`.
__device__ __forceinline__ void CopyAsync(unsigned to, const Element* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0));
}

__device__ __forceinline__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most `pending` of the groups that this thread committed are not complete.
template <int pending>
__device__ __forceinline__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Four 8 x 8 matrices of shared memory, transposed: a lane gives the address of one row of 16 bytes.
__device__ __forceinline__ void LoadTransposed(unsigned from, unsigned (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

// sums += a b with a 16 x 16 and b 16 x 8.
__device__ __forceinline__ void MultiplyAdd(float (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                            unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32." ELEMENT_NAME "." ELEMENT_NAME
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ __forceinline__ float Exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// The position of vector number `vector` in its row. With it the eight rows of a matrix lie in different banks, and so do the two keys
// that eight lanes read together.
__device__ __forceinline__ int Swizzle(int row, int vector) { return vector ^ ((row & 1) << 2 | (row >> 1 & 3)); }

// The warp's rows from `first` on, straight from global memory. Rows past the end repeat the last one and are not stored.
__device__ __forceinline__ void LoadQuery(const Element* head, int first, int length, Query& query) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = min(first + m * 16 + r * 8 + lane / 4, length - 1);
#pragma unroll
      for (int c = 0; c < HEAD_DIM / 32; ++c) {
        query[m][r][c] = *reinterpret_cast<const uint4*>(head + row * HEAD_DIM + (lane % 4 + 4 * c) * kVector);
      }
    }
  }
}

// Masks the keys that a row must not see. `first_key` and `first_row` are the chunk's and the warp's.
template <int eights>
__device__ __forceinline__ void MaskScores(float (&scores)[kTiles][eights][4], int first_key, int first_row, int length) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int n = 0; n < eights; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = first_row + m * 16 + e / 2 * 8 + lane / 4;
        const int end = CAUSAL ? min(length, row + 1) : length;
        if (first_key + n * 8 + lane % 4 * 2 + e % 2 >= end) scores[m][n][e] = kMasked;
      }
    }
  }
}
