// Matrix product with the sum cut into PARTS: a block computes TILE_M x TILE_N elements over its part of the depth, by tiles in shared
// memory, and a second kernel adds up the parts in their order.
// evo:param PARTS 16 32 64 128 256
// evo:param TILE_M 32 64 128
// evo:param TILE_N 32 64 128
// evo:param TILE_K 8 16 32
// evo:param ITEMS_M 2 4 8
// evo:param ITEMS_N 2 4 8
// evo:constraint (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) >= 64 && (TILE_M / ITEMS_M) * (TILE_N / ITEMS_N) <= 512
// evo:workspace parts f32 [PARTS, M, N]
// evo:launch gemm_large_k_parts(A, B, parts, M, N, K) \
//   grid(ceil_div(N, TILE_N), ceil_div(M, TILE_M), PARTS) block((TILE_M / ITEMS_M) * (TILE_N / ITEMS_N))
// evo:launch gemm_large_k_sum(parts, C, i64(M * N)) grid(ceil_div(M * N, 128)) block(128)

// Parts of the depth.
#ifndef PARTS
#define PARTS 64
#endif

// Rows and columns of C that a block computes, and the depth of a step.
#ifndef TILE_M
#define TILE_M 64
#endif

#ifndef TILE_N
#define TILE_N 64
#endif

#ifndef TILE_K
#define TILE_K 16
#endif

// Rows and columns of C that a thread computes, as far apart as there are threads.
#ifndef ITEMS_M
#define ITEMS_M 4
#endif

#ifndef ITEMS_N
#define ITEMS_N 4
#endif

constexpr int kThreadsM = TILE_M / ITEMS_M;
constexpr int kThreadsN = TILE_N / ITEMS_N;
constexpr int kThreads = kThreadsM * kThreadsN;

__global__ void __launch_bounds__(kThreads) gemm_large_k_parts(const float* __restrict__ A, const float* __restrict__ B,
                                                               float* __restrict__ parts, int rows, int columns, int depth) {
  __shared__ float tile_a[TILE_K][TILE_M + 1];
  __shared__ float tile_b[TILE_K][TILE_N];
  const int first_row = blockIdx.y * TILE_M;
  const int first_column = blockIdx.x * TILE_N;
  const int thread_m = threadIdx.x / kThreadsN;
  const int thread_n = threadIdx.x % kThreadsN;
  // Whole steps in each part, so that rows of A begin where memory accesses do.
  const int steps = (depth + TILE_K - 1) / TILE_K;
  const int begin = (int)((long long)steps * blockIdx.z / PARTS) * TILE_K;
  const int end = min(depth, (int)((long long)steps * (blockIdx.z + 1) / PARTS) * TILE_K);
  float sums[ITEMS_M][ITEMS_N] = {};
  for (int first = begin; first < end; first += TILE_K) {
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += kThreads) {
      const int row = first_row + i / TILE_K;
      const int k = first + i % TILE_K;
      tile_a[i % TILE_K][i / TILE_K] = row < rows && k < end ? A[(long long)row * depth + k] : 0.0f;
    }
#pragma unroll 4
    for (int i = threadIdx.x; i < TILE_K * TILE_N; i += kThreads) {
      const int k = first + i / TILE_N;
      const int column = first_column + i % TILE_N;
      tile_b[i / TILE_N][i % TILE_N] = k < end && column < columns ? B[(long long)k * columns + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE_K; ++k) {
      float a[ITEMS_M];
      float b[ITEMS_N];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) a[m] = tile_a[k][thread_m + m * kThreadsM];
#pragma unroll
      for (int n = 0; n < ITEMS_N; ++n) b[n] = tile_b[k][thread_n + n * kThreadsN];
#pragma unroll
      for (int m = 0; m < ITEMS_M; ++m) {
#pragma unroll
        for (int n = 0; n < ITEMS_N; ++n) sums[m][n] += a[m] * b[n];
      }
    }
    __syncthreads();   // all threads are done with the tiles before the next ones replace them
  }
#pragma unroll
  for (int m = 0; m < ITEMS_M; ++m) {
    const int row = first_row + thread_m + m * kThreadsM;
#pragma unroll
    for (int n = 0; n < ITEMS_N; ++n) {
      const int column = first_column + thread_n + n * kThreadsN;
      if (row < rows && column < columns) parts[((long long)blockIdx.z * rows + row) * columns + column] = sums[m][n];
    }
  }
}

__global__ void __launch_bounds__(128) gemm_large_k_sum(const float* __restrict__ parts, float* __restrict__ C, long long count) {
  const long long element = (long long)blockIdx.x * 128 + threadIdx.x;
  if (element >= count) return;
  float sum = 0.0f;
#pragma unroll 8
  for (int part = 0; part < PARTS; ++part) sum += parts[part * count + element];
  C[element] = sum;
}
