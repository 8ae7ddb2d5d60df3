// Logarithm of the softmax of rows that stay in registers: read once, in vectors of four, combined by shuffles and, where a row has
// several warps, shared memory. Rows that are too long for the registers are read three times.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param GROUPS 1 2 4 8 16
// evo:param VECTORS 1 2 4 8
// evo:constraint THREADS * GROUPS >= 64 && THREADS * GROUPS <= 1024
// evo:launch log_softmax_vectors(X, Y, ROWS, COLS) grid(ceil_div(ROWS, GROUPS)) block(THREADS, GROUPS)

// Threads of a row.
#ifndef THREADS
#define THREADS 1024
#endif

// Rows of a block.
#ifndef GROUPS
#define GROUPS 1
#endif

// Vectors of four columns that a thread keeps.
#ifndef VECTORS
#define VECTORS 8
#endif

#include "../softmax/row_vectors.cuh"

// Less than every input, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

__global__ void __launch_bounds__(THREADS * GROUPS)
    log_softmax_vectors(const float* __restrict__ X, float* __restrict__ Y, int rows, int columns) {
  const int row = blockIdx.x * GROUPS + threadIdx.y;
  const int end = row < rows ? columns : 0;  // what is beyond the last row has no columns
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  const bool aligned = IsAligned(X, columns) && IsAligned(Y, columns);
  const bool fits = columns <= kKept;
  float4 kept[VECTORS];

  float largest = kLowest;
  for (int first = 0; first < columns; first += kKept) {
    LoadVectors(kept, x, first, end, aligned, kLowest);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) largest = fmaxf(largest, LargestOf(kept[v]));
  }
  largest = LargestOfRow(largest);

  float sum = 0.0f;
  for (int first = 0; first < columns; first += kKept) {
    if (!fits) LoadVectors(kept, x, first, end, aligned, kLowest);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      sum += (expf(kept[v].x - largest) + expf(kept[v].y - largest)) + (expf(kept[v].z - largest) + expf(kept[v].w - largest));
    }
  }
  const float logarithm = logf(SumOfRow(sum));

  for (int first = 0; first < columns; first += kKept) {
    if (!fits) LoadVectors(kept, x, first, end, aligned, kLowest);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      StoreFour(y, first + v * kSpan + threadIdx.x * 4, end, aligned,
                make_float4(kept[v].x - largest - logarithm, kept[v].y - largest - logarithm, kept[v].z - largest - logarithm,
                            kept[v].w - largest - logarithm));
    }
  }
}
