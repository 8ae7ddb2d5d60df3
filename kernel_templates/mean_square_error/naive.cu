// Mean square error: a tree in shared memory with interleaved addressing in every block, then one block adds up the blocks' sums.
// evo:param BLOCK 64 128 256 512 1024
// evo:param ITEMS 1 2 4 8
// evo:param UNROLL 1 2 4 8
// evo:workspace sums f32 [ceil_div(N, BLOCK * ITEMS)]
// evo:launch mean_square_error_blocks(X, Y, sums, N) grid(ceil_div(N, BLOCK * ITEMS)) block(BLOCK)
// evo:launch mean_square_error_last(sums, E, ceil_div(N, BLOCK * ITEMS), N) grid(1) block(BLOCK)

// Threads of a block.
#ifndef BLOCK
#define BLOCK 256
#endif

// Squares that a thread adds up before the tree, BLOCK apart.
#ifndef ITEMS
#define ITEMS 1
#endif

// Sums of blocks that an iteration of the last block adds.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void mean_square_error_blocks(const float* X, const float* Y, float* sums, int n) {
  __shared__ float partials[BLOCK];
  const int thread = threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < ITEMS; ++k) {
    const int i = (blockIdx.x * ITEMS + k) * BLOCK + thread;
    if (i < n) sum += (X[i] - Y[i]) * (X[i] - Y[i]);
  }
  partials[thread] = sum;
  __syncthreads();
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    if (thread % (2 * distance) == 0) partials[thread] += partials[thread + distance];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = partials[0];
}

__global__ void mean_square_error_last(const float* sums, float* E, int count, int n) {
  __shared__ float partials[BLOCK];
  const int thread = threadIdx.x;
  float sum = 0.0f;
#pragma unroll kUnroll
  for (int i = thread; i < count; i += BLOCK) {
    sum += sums[i];
  }
  partials[thread] = sum;
  __syncthreads();
  for (int distance = 1; distance < BLOCK; distance *= 2) {
    if (thread % (2 * distance) == 0) partials[thread] += partials[thread + distance];
    __syncthreads();
  }
  if (thread == 0) E[0] = partials[0] / n;
}
