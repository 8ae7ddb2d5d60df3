// One block a row.
// evo:launch softmax(X, Y, COLS) grid(ROWS) block(128)

constexpr int kThreads = 128;

__global__ void softmax(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float partials[kThreads];
  const int thread = threadIdx.x;
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;

  float largest = -3.0e38f;
  for (int c = thread; c < columns; c += kThreads) largest = fmaxf(largest, x[c]);
  partials[thread] = largest;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] = fmaxf(partials[thread], partials[thread + half]);
    __syncthreads();
  }
  largest = partials[0];
  __syncthreads();   // all threads have read the largest value before the sums replace it

  float sum = 0.0f;
  for (int c = thread; c < columns; c += kThreads) sum += expf(x[c] - largest);
  partials[thread] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (thread < half) partials[thread] += partials[thread + half];
    __syncthreads();
  }
  sum = partials[0];
  for (int c = thread; c < columns; c += kThreads) y[c] = expf(x[c] - largest) / sum;
}
