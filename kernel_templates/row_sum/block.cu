// Row sums, one block a row: each thread takes every THREADS-th column, and a tree in shared memory combines the threads.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch row_sum_block(X, Y, COLS) grid(ROWS) block(THREADS)

#ifndef THREADS
#define THREADS 128
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

__global__ void row_sum_block(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float partials[THREADS];
  const int thread = threadIdx.x;
  const float* x = X + (long long)blockIdx.x * columns;

  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    sum += x[c];
  }
  partials[thread] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] += partials[thread + half];
    __syncthreads();
  }
  if (thread == 0) Y[blockIdx.x] = partials[0];
}
