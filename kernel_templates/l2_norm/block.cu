// Euclidean norms of rows, one block a row: each thread takes every THREADS-th column, four at a time where rows are multiples of
// four columns, and shuffles add up the threads.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch l2_norm_block(X, Y, COLS) grid(ROWS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 2
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void __launch_bounds__(THREADS) l2_norm_block(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float sums[THREADS / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const float* x = X + (long long)blockIdx.x * columns;
  float squares = 0.0f;
  if (columns % 4 == 0) {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
      const float4 values = reinterpret_cast<const float4*>(x)[c];
      squares += (values.x * values.x + values.y * values.y) + (values.z * values.z + values.w * values.w);
    }
  } else {
#pragma unroll kUnroll
    for (int c = threadIdx.x; c < columns; c += THREADS) {
      squares += x[c] * x[c];
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kAllLanes, squares, offset);
  if (lane == 0) sums[warp] = squares;
  __syncthreads();
  if (warp > 0) return;
  squares = lane < THREADS / 32 ? sums[lane] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(kAllLanes, squares, offset);
  if (lane == 0) Y[blockIdx.x] = sqrtf(squares);
}
