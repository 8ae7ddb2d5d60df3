// Shared by the templates that keep rows of floats in registers, as vectors of four. They define THREADS, which share a row,
// GROUPS, the rows of a block, and VECTORS, which a thread keeps. A block is THREADS x GROUPS threads.
#pragma once

// Columns that the threads of a row load at once, and those that they keep.
constexpr int kSpan = THREADS * 4;
constexpr int kKept = kSpan * VECTORS;
constexpr unsigned kAllLanes = 0xffffffffu;

// Whether vectors of four elements may be loaded from and stored to rows that begin there.
__device__ __forceinline__ bool IsAligned(const void* pointer, int columns) {
  return columns % 4 == 0 && reinterpret_cast<unsigned long long>(pointer) % 16 == 0;
}

// Four neighbours from column `c` on, `outside` beyond the end of the row.
__device__ __forceinline__ float4 LoadFour(const float* row, int c, int columns, bool aligned, float outside) {
  if (aligned) {
    return c < columns ? *reinterpret_cast<const float4*>(row + c) : make_float4(outside, outside, outside, outside);
  }
  return make_float4(c < columns ? row[c] : outside, c + 1 < columns ? row[c + 1] : outside, c + 2 < columns ? row[c + 2] : outside,
                     c + 3 < columns ? row[c + 3] : outside);
}

__device__ __forceinline__ void StoreFour(float* row, int c, int columns, bool aligned, float4 value) {
  if (aligned) {
    if (c < columns) *reinterpret_cast<float4*>(row + c) = value;
    return;
  }
  if (c < columns) row[c] = value.x;
  if (c + 1 < columns) row[c + 1] = value.y;
  if (c + 2 < columns) row[c + 2] = value.z;
  if (c + 3 < columns) row[c + 3] = value.w;
}

// The vectors of a thread from column `first` on.
__device__ __forceinline__ void LoadVectors(float4 (&kept)[VECTORS], const float* row, int first, int columns, bool aligned,
                                            float outside) {
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) kept[v] = LoadFour(row, first + v * kSpan + threadIdx.x * 4, columns, aligned, outside);
}

__device__ __forceinline__ float LargestOf(float4 four) { return fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)); }
__device__ __forceinline__ float SumOf(float4 four) { return (four.x + four.y) + (four.z + four.w); }

// The largest value of the threads of a row, and the sum of their values. All threads of the block have to call them.
__device__ __forceinline__ float LargestOfRow(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  if (THREADS == 32) return value;
  __shared__ float of_warps[GROUPS][THREADS / 32];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
#pragma unroll
  for (int warp = 0; warp < THREADS / 32; ++warp) value = fmaxf(value, of_warps[threadIdx.y][warp]);
  __syncthreads();  // all have read before the next call writes
  return value;
}

__device__ __forceinline__ float SumOfRow(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  if (THREADS == 32) return value;
  __shared__ float of_warps[GROUPS][THREADS / 32];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int warp = 0; warp < THREADS / 32; ++warp) sum += of_warps[threadIdx.y][warp];
  __syncthreads();  // all have read before the next call writes
  return sum;
}
