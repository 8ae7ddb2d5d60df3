// Layer norm of rows that stay in registers: read once, in vectors of four, combined by shuffles and, where a row has several warps,
// shared memory. Rows that are too long for the registers are read three times.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param GROUPS 1 2 4 8 16
// evo:param VECTORS 1 2 4 8
// evo:constraint THREADS * GROUPS >= 64 && THREADS * GROUPS <= 1024
// evo:launch layer_norm_vectors(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, GROUPS)) block(THREADS, GROUPS)

// Threads of a row.
#ifndef THREADS
#define THREADS 32
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

// The square of a difference; nothing beyond the end of the row.
__device__ __forceinline__ float SquareOf(float x, float mean, bool inside) { return inside ? (x - mean) * (x - mean) : 0.0f; }

__global__ void __launch_bounds__(THREADS * GROUPS)
    layer_norm_vectors(const float* __restrict__ X, const float* __restrict__ gamma, const float* __restrict__ beta,
                       float* __restrict__ Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * GROUPS + threadIdx.y;
  const int end = row < rows ? columns : 0;  // what is beyond the last row has no columns
  const float* x = X + (long long)row * columns;
  float* y = Y + (long long)row * columns;
  const bool aligned =
      IsAligned(X, columns) && IsAligned(Y, columns) && IsAligned(gamma, columns) && IsAligned(beta, columns);
  const bool fits = columns <= kKept;
  float4 kept[VECTORS];

  float sum = 0.0f;
  for (int first = 0; first < columns; first += kKept) {
    LoadVectors(kept, x, first, end, aligned, 0.0f);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) sum += SumOf(kept[v]);
  }
  const float mean = SumOfRow(sum) / columns;

  float squares = 0.0f;
  for (int first = 0; first < columns; first += kKept) {
    if (!fits) LoadVectors(kept, x, first, end, aligned, 0.0f);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int c = first + v * kSpan + threadIdx.x * 4;
      squares += (SquareOf(kept[v].x, mean, c < end) + SquareOf(kept[v].y, mean, c + 1 < end)) +
                 (SquareOf(kept[v].z, mean, c + 2 < end) + SquareOf(kept[v].w, mean, c + 3 < end));
    }
  }
  const float inverse = 1.0f / sqrtf(SumOfRow(squares) / columns + eps);

  for (int first = 0; first < columns; first += kKept) {
    if (!fits) LoadVectors(kept, x, first, end, aligned, 0.0f);
#pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
      const int c = first + v * kSpan + threadIdx.x * 4;
      const float4 factor = LoadFour(gamma, c, end, aligned, 0.0f), offset = LoadFour(beta, c, end, aligned, 0.0f);
      StoreFour(y, c, end, aligned,
                make_float4((kept[v].x - mean) * inverse * factor.x + offset.x, (kept[v].y - mean) * inverse * factor.y + offset.y,
                            (kept[v].z - mean) * inverse * factor.z + offset.z, (kept[v].w - mean) * inverse * factor.w + offset.w));
    }
  }
}
