// Layer norm, one block a row: each thread takes every THREADS-th column; trees in shared memory compute the mean and the variance.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch layer_norm_block(X, gamma, beta, Y, eps, COLS) grid(ROWS) block(THREADS)

#ifndef THREADS
#define THREADS 128
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;

// The sum over the threads of a block, returned to each of them.
__device__ float BlockSum(float value, float* partials) {
  const int thread = threadIdx.x;
  partials[thread] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] += partials[thread + half];
    __syncthreads();
  }
  const float sum = partials[0];
  __syncthreads();   // all threads have read the sum before another replaces it
  return sum;
}

__global__ void layer_norm_block(const float* __restrict__ X, const float* __restrict__ gamma, const float* __restrict__ beta,
                                 float* __restrict__ Y, float eps, int columns) {
  __shared__ float partials[THREADS];
  const int thread = threadIdx.x;
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;

  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    sum += x[c];
  }
  const float mean = BlockSum(sum, partials) / columns;
  float squares = 0.0f;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    squares += (x[c] - mean) * (x[c] - mean);
  }
  const float variance = BlockSum(squares, partials) / columns;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    y[c] = (x[c] - mean) / sqrtf(variance + eps) * gamma[c] + beta[c];
  }
}
