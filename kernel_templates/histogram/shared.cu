// How often each of 256 values occurs: a block counts in shared memory and adds its counts to those in global memory in the end.
// Lane i counts in copy i mod COPIES, so that lanes with equal values meet less often.
// evo:param THREADS 128 256 512 1024
// evo:param BLOCKS 132 264 528 1056
// evo:param COPIES 1 2 4 8 16 32
// evo:param UNROLL 1 2 4
// evo:memset H 0
// evo:launch histogram_shared(X, H, N) grid(BLOCKS) block(THREADS)

// Threads of a block.
#ifndef THREADS
#define THREADS 512
#endif

// Blocks of the grid.
#ifndef BLOCKS
#define BLOCKS 264
#endif

// Copies of the counts; with 32 each lane has a bank of shared memory for itself.
#ifndef COPIES
#define COPIES 8
#endif

// Groups of four elements that an iteration counts.
#ifndef UNROLL
#define UNROLL 2
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void __launch_bounds__(THREADS) histogram_shared(const int* __restrict__ X, int* __restrict__ H, int n) {
  __shared__ int counts[256 * COPIES];   // the copies of one count are neighbours
  const int thread = threadIdx.x;
  for (int i = thread; i < 256 * COPIES; i += THREADS) counts[i] = 0;
  __syncthreads();

  int* own = counts + thread % COPIES;
  const int4* vectors = reinterpret_cast<const int4*>(X);
#pragma unroll kUnroll
  for (int i = blockIdx.x * THREADS + thread; i < n / 4; i += BLOCKS * THREADS) {
    const int4 values = vectors[i];
    atomicAdd(&own[values.x * COPIES], 1);
    atomicAdd(&own[values.y * COPIES], 1);
    atomicAdd(&own[values.z * COPIES], 1);
    atomicAdd(&own[values.w * COPIES], 1);
  }
  if (blockIdx.x == 0 && thread < n % 4) atomicAdd(&own[X[n - 1 - thread] * COPIES], 1);
  __syncthreads();

  for (int value = thread; value < 256; value += THREADS) {
    int count = 0;
    // Threads start at different copies, so that they read different banks.
    for (int copy = 0; copy < COPIES; ++copy) count += counts[value * COPIES + (copy + value) % COPIES];
    if (count > 0) atomicAdd(&H[value], count);
  }
}
