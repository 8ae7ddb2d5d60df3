// Mean square error: BLOCKS blocks go through both vectors four elements at a time, shuffles add up the lanes,
// and one block adds up the blocks' sums.
// evo:param THREADS 128 256 512 1024
// evo:param BLOCKS 132 264 528 1056 2112
// evo:param UNROLL 1 2 4 8
// evo:workspace sums f32 [BLOCKS]
// evo:launch mean_square_error_grid(X, Y, sums, N) grid(BLOCKS) block(THREADS)
// evo:launch mean_square_error_last(sums, E, N) grid(1) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 256
#endif

// Blocks of the grid.
#ifndef BLOCKS
#define BLOCKS 264
#endif

// Pairs of reads of a thread that are under way at a time.
#ifndef UNROLL
#define UNROLL 4
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ float Square(float value) { return value * value; }

// The sum over the threads of a block, for its first thread.
__device__ float BlockSum(float value) {
  __shared__ float sums[THREADS / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return 0.0f;
  value = threadIdx.x < THREADS / 32 ? sums[threadIdx.x] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAllLanes, value, offset);
  return value;
}

__global__ void __launch_bounds__(THREADS) mean_square_error_grid(const float* __restrict__ X, const float* __restrict__ Y,
                                                                  float* __restrict__ sums, int n) {
  const float4* x4 = reinterpret_cast<const float4*>(X);
  const float4* y4 = reinterpret_cast<const float4*>(Y);
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n / 4; i += BLOCKS * THREADS) {
    const float4 x = x4[i];
    const float4 y = y4[i];
    sum += (Square(x.x - y.x) + Square(x.y - y.y)) + (Square(x.z - y.z) + Square(x.w - y.w));
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sum += Square(X[n - 1 - threadIdx.x] - Y[n - 1 - threadIdx.x]);
  sum = BlockSum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS) mean_square_error_last(const float* __restrict__ sums, float* __restrict__ E, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < BLOCKS; i += THREADS) sum += sums[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) E[0] = sum / n;
}
