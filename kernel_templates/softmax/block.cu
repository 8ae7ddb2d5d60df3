// Softmax, one block a row: each thread takes every THREADS-th column, and a tree in shared memory combines the threads.
// evo:param THREADS 32 64 128 256 512 1024
// evo:param UNROLL 1 2 4 8
// evo:launch softmax_block(X, Y, COLS) grid(ROWS) block(THREADS)

#ifndef THREADS
#define THREADS 128
#endif

// Columns that an iteration processes.
#ifndef UNROLL
#define UNROLL 1
#endif

// nvcc does not expand macros in a pragma.
constexpr int kUnroll = UNROLL;
// Less than every input, and finite, so that the difference of two such values is never NaN.
constexpr float kLowest = -3.0e38f;

__global__ void softmax_block(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float partials[THREADS];
  const int thread = threadIdx.x;
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;

  float largest = kLowest;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    largest = fmaxf(largest, x[c]);
  }
  partials[thread] = largest;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] = fmaxf(partials[thread], partials[thread + half]);
    __syncthreads();
  }
  largest = partials[0];
  __syncthreads();   // all threads have read the largest value before the sums replace it

  float sum = 0.0f;
#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    sum += expf(x[c] - largest);
  }
  partials[thread] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] += partials[thread + half];
    __syncthreads();
  }
  sum = partials[0];

#pragma unroll kUnroll
  for (int c = thread; c < columns; c += THREADS) {
    y[c] = expf(x[c] - largest) / sum;
  }
}
