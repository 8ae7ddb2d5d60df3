// Shared by the templates of fp32 products that go by tiles in shared memory. They define what stands in capitals here.
#pragma once

constexpr int kThreadsM = TILE_M / ITEMS_M;
constexpr int kThreadsN = TILE_N / ITEMS_N;
constexpr int kThreads = kThreadsM * kThreadsN;

// Sums of this thread's elements of a tile: rows threadIdx.x / kThreadsN + m * kThreadsM and columns threadIdx.x % kThreadsN + n
// * kThreadsN. `a` begins at the tile's first row, `b` at its first column; `rows` and `columns` are left from there on, and k
// goes from `begin` to `end`. If B_BY_COLUMNS, b has a row for each column, as the weights of a layer have, and `pitch_b` lies
// between these.
__device__ __forceinline__ void MultiplyTile(const float* a, int pitch_a, int rows, const float* b, int pitch_b, int columns,
                                             int begin, int end, float (&sums)[ITEMS_M][ITEMS_N]) {
  __shared__ float tile_a[TILE_K][TILE_M + 1];
  __shared__ float tile_b[TILE_K][TILE_N + B_BY_COLUMNS];
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
  for (int first = begin; first < end; first += TILE_K) {
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += kThreads) {
      const int row = i / TILE_K;
      const int k = first + i % TILE_K;
      tile_a[i % TILE_K][row] = row < rows && k < end ? a[(long long)row * pitch_a + k] : 0.0f;
    }
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE_K * TILE_N; i += kThreads) {
#if B_BY_COLUMNS
      const int column = i / TILE_K;
      const int k = first + i % TILE_K;
      tile_b[i % TILE_K][column] = k < end && column < columns ? b[(long long)column * pitch_b + k] : 0.0f;
#else
      const int column = i % TILE_N;
      const int k = first + i / TILE_N;
      tile_b[i / TILE_N][column] = k < end && column < columns ? b[(long long)k * pitch_b + column] : 0.0f;
#endif
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE_K; ++k) {
      float from_a[ITEMS_M];
      float from_b[ITEMS_N];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) from_a[m] = tile_a[k][thread_m + m * kThreadsM];
#pragma unroll
      for (int n = 0; n < ITEMS_N; ++n) from_b[n] = tile_b[k][thread_n + n * kThreadsN];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) {
#pragma unroll
        for (int n = 0; n < ITEMS_N; ++n) sums[m][n] += from_a[m] * from_b[n];
      }
    }
    __syncthreads();   // all threads are done with the tiles before the next ones replace them
  }
}
