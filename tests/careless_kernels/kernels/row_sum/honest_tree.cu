// Honest: a tree in shared memory, with neighbouring columns in neighbouring threads.
// evo:launch honest_tree(X, Y, COLS) grid(ROWS) block(64)
__global__ void honest_tree(const float* X, float* Y, int columns) {
  __shared__ float partials[64];
  const float* x = X + (long long)blockIdx.x * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 64) sum += x[c];
  partials[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) partials[threadIdx.x] += partials[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) Y[blockIdx.x] = partials[0];
}
