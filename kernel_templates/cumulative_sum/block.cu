// Cumulative sums along rows, one block a row, which takes THREADS * ITEMS columns at a time: threads add up ITEMS neighbours,
// shuffles scan the threads, and the sum so far goes on to the next columns.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param ITEMS 1 3 5 7 9
// evo:constraint THREADS * ITEMS <= 8192
// evo:launch cumulative_sum_block(X, Y, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Neighbouring columns of a thread. With an odd number the threads of a warp meet different banks of shared memory.
#ifndef ITEMS
#define ITEMS 5
#endif

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kTile = THREADS * ITEMS;

__global__ void __launch_bounds__(THREADS) cumulative_sum_block(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float tile[kTile];
  __shared__ float sums[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  float so_far = 0.0f;
  for (int first = 0; first < columns; first += kTile) {
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      const int c = first + k * THREADS + threadIdx.x;
      tile[k * THREADS + threadIdx.x] = c < columns ? x[c] : 0.0f;
    }
    __syncthreads();
    float own[ITEMS];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      sum += tile[threadIdx.x * ITEMS + k];
      own[k] = sum;
    }
    // The sum of the lanes up to this one, then of those before it.
    for (int distance = 1; distance < 32; distance *= 2) {
      const float left = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += left;
    }
    if (lane == 31) sums[warp] = sum;
    const float left = __shfl_up_sync(kAllLanes, sum, 1);
    __syncthreads();
    float before = so_far;
    for (int w = 0; w < THREADS / 32; ++w) {
      if (w == warp) before = so_far;
      so_far += sums[w];
    }
    if (lane > 0) before += left;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) tile[threadIdx.x * ITEMS + k] = before + own[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
      const int c = first + k * THREADS + threadIdx.x;
      if (c < columns) y[c] = tile[k * THREADS + threadIdx.x];
    }
    __syncthreads();   // all threads have read the tile and the sums before others replace them
  }
}
