// Prefix sums: blocks scan their elements in shared memory, one block scans their sums, and these are added to all elements.
// evo:param BLOCK 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:workspace sums f32 [ceil_div(N, BLOCK)]
// evo:launch prefix_sum_blocks(X, Y, sums, N) grid(ceil_div(N, BLOCK)) block(BLOCK)
// evo:launch prefix_sum_sums(sums, ceil_div(N, BLOCK)) grid(1) block(BLOCK)
// evo:launch prefix_sum_add(sums, Y, N) grid(ceil_div(N, BLOCK)) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Steps of a scan that an iteration does.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

// Each of the block's partials becomes the sum of those up to it: every step adds what is `distance` to the left.
__device__ void Scan(float* partials) {
  const int thread = threadIdx.x;
  __syncthreads();
#pragma unroll kUnroll
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    const float left = thread >= distance ? partials[thread - distance] : 0.0f;
    __syncthreads();
    partials[thread] += left;
    __syncthreads();
  }
}

__global__ void prefix_sum_blocks(const float* X, float* Y, float* sums, int n) {
  __shared__ float partials[BLOCK];
  const int thread = threadIdx.x;
  const int i = blockIdx.x * BLOCK + thread;
  partials[thread] = i < n ? X[i] : 0.0f;
  Scan(partials);
  if (i < n) Y[i] = partials[thread];
  if (thread == BLOCK - 1) sums[blockIdx.x] = partials[thread];
}

// Each sum becomes the sum of those before it.
__global__ void prefix_sum_sums(float* sums, int count) {
  __shared__ float partials[BLOCK];
  const int thread = threadIdx.x;
  float before = 0.0f;
  for (int first = 0; first < count; first += BLOCK) {
    const int i = first + thread;
    partials[thread] = i < count ? sums[i] : 0.0f;
    Scan(partials);
    if (i < count) sums[i] = thread > 0 ? before + partials[thread - 1] : before;
    before += partials[BLOCK - 1];
    __syncthreads();   // all threads have read the partials before others replace them
  }
}

__global__ void prefix_sum_add(const float* sums, float* Y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) Y[i] += sums[blockIdx.x];
}
