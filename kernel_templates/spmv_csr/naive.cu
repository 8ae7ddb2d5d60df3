// Sparse matrix times vector, one thread a row.
// evo:param BLOCK 32 64 128 256 512
// evo:param UNROLL 1 2 4 8
// evo:launch spmv_csr_naive(offsets, columns, values, x, y, ROWS) grid(ceil_div(ROWS, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 128
#endif

// Elements that an iteration adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void spmv_csr_naive(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= rows) return;
  const int end = offsets[row + 1];
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = offsets[row]; i < end; ++i) {
    sum += values[i] * x[columns[i]];
  }
  y[row] = sum;
}
