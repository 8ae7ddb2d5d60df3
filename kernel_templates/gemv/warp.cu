// Matrix times vector, WARPS warps of a block share ROWS rows: lanes read four neighbouring columns at a time, each piece of x
// once for all rows. Shuffles add up the lanes, and the first warp adds up the warps.
// evo:param WARPS 1 2 4 8
// evo:param ROWS 1 2 4
// evo:param UNROLL 1 2 4 8
// evo:launch gemv_warp(A, x, y, M, N) grid(ceil_div(M, ROWS)) block(32 * WARPS)

// Warps of a block.
#ifndef WARPS
#define WARPS 4
#endif

// Rows of a block.
#ifndef ROWS
#define ROWS 2
#endif

// Reads of each row that a thread has under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr int kThreads = 32 * WARPS;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void __launch_bounds__(kThreads) gemv_warp(const float* __restrict__ A, const float* __restrict__ x,
                                                      float* __restrict__ y, int rows, int columns) {
  __shared__ float sums_of_warps[WARPS][ROWS];
  const int first_row = blockIdx.x * ROWS;
  const float* row[ROWS];
  float sums[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    row[r] = A + (long long)min(first_row + r, rows - 1) * columns;   // those past the end are not stored
    sums[r] = 0.0f;
  }
  if (columns % 4 == 0) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += kThreads) {
      const float4 factor = reinterpret_cast<const float4*>(x)[c];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const float4 a = reinterpret_cast<const float4*>(row[r])[c];
        sums[r] += (a.x * factor.x + a.y * factor.y) + (a.z * factor.z + a.w * factor.w);
      }
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += kThreads) {
      const float factor = x[c];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sums[r] += row[r][c] * factor;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    for (int offset = 16; offset > 0; offset /= 2) sums[r] += __shfl_xor_sync(kAllLanes, sums[r], offset);
    if (threadIdx.x % 32 == 0) sums_of_warps[threadIdx.x / 32][r] = sums[r];
  }
  __syncthreads();
  if (threadIdx.x < ROWS && first_row + threadIdx.x < rows) {
    float sum = 0.0f;
    for (int warp = 0; warp < WARPS; ++warp) sum += sums_of_warps[warp][threadIdx.x];
    y[first_row + threadIdx.x] = sum;
  }
}
