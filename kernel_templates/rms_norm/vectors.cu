// RMS norm of rows that stay in registers: read once, in vectors of four, combined by shuffles and, where a row has several warps,
// shared memory. Rows that are too long for the registers are read twice.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param GROUPS 1 2 4 8 16
// evo:param VECTORS 1 2 4 8
// evo:constraint THREADS * GROUPS >= 64 && THREADS * GROUPS <= 1024
// evo:launch rms_norm_vectors(X, gamma, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, GROUPS)) block(THREADS, GROUPS)

// Threads of a row.
#ifndef THREADS
#define THREADS 128
#endif

// Rows of a block.
#ifndef GROUPS
#define GROUPS 4
#endif

// Vectors of four columns that a thread keeps.
#ifndef VECTORS
#define VECTORS 8
#endif

#include "../softmax/row_vectors.cuh"

__global__ void __launch_bounds__(THREADS * GROUPS)
    rms_norm_vectors(const float* __restrict__ X, const float* __restrict__ gamma, float* __restrict__ Y, float eps, int rows,
                     int columns) {
  const int row = blockIdx.x * GROUPS + threadIdx.y;
  const int end = row < rows ? columns : 0;  // what is beyond the last row has no columns
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  const bool aligned = IsAligned(X, columns) && IsAligned(Y, columns) && IsAligned(gamma, columns);
  const bool fits = columns <= kKept;
  float4 kept[VECTORS];

  float squares = 0.0f;
  for (int first = 0; first < columns; first += kKept) {
    LoadVectors(kept, x, first, end, aligned, 0.0f);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      squares += (kept[v].x * kept[v].x + kept[v].y * kept[v].y) + (kept[v].z * kept[v].z + kept[v].w * kept[v].w);
    }
  }
  const float inverse = 1.0f / sqrtf(SumOfRow(squares) / columns + eps);

  for (int first = 0; first < columns; first += kKept) {
    if (!fits) LoadVectors(kept, x, first, end, aligned, 0.0f);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int c = first + v * kSpan + threadIdx.x * 4;
      const float4 factor = LoadFour(gamma, c, end, aligned, 0.0f);
      StoreFour(y, c, end, aligned,
                make_float4(kept[v].x * inverse * factor.x, kept[v].y * inverse * factor.y, kept[v].z * inverse * factor.z,
                            kept[v].w * inverse * factor.w));
    }
  }
}
