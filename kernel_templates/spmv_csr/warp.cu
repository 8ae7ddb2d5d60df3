// Sparse matrix times vector, LANES threads of a warp a row: they take neighbouring elements, and shuffles add up their sums.
// evo:param BLOCK 64 128 256 512
// evo:param LANES 2 4 8 16 32
// evo:param UNROLL 1 2 4
// evo:launch spmv_csr_warp(offsets, columns, values, x, y, ROWS) grid(ceil_div(ROWS, BLOCK / LANES)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Threads that share a row.
#ifndef LANES
#define LANES 8
#endif

// Elements that an iteration of a thread adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void spmv_csr_warp(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values,
                              const float* __restrict__ x, float* __restrict__ y, int rows) {
  const int lane = threadIdx.x % LANES;
  const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  // Threads without a row stay for the shuffles.
  const int begin = row < rows ? offsets[row] : 0;
  const int end = row < rows ? offsets[row + 1] : 0;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = begin + lane; i < end; i += LANES) {
    sum += values[i] * x[columns[i]];
  }
  for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
  if (lane == 0 && row < rows) y[row] = sum;
}
