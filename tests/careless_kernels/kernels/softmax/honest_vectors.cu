// Honest: loads four values at a time where rows are aligned for it, and the others one by one.
// evo:launch honest_vectors(X, Y, COLS) grid(ROWS) block(64)
__device__ float Combined(float value, float* partials, bool sum) {
  partials[threadIdx.x] = value;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const float other = partials[threadIdx.x + half];
      partials[threadIdx.x] = sum ? partials[threadIdx.x] + other : fmaxf(partials[threadIdx.x], other);
    }
    __syncthreads();
  }
  const float result = partials[0];
  __syncthreads();
  return result;
}

__global__ void honest_vectors(const float* X, float* Y, int columns) {
  __shared__ float partials[64];
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  const int vectors = columns % 4 == 0 ? columns / 4 : 0;
  const float4* fours = reinterpret_cast<const float4*>(x);
  float largest = x[0];
  for (int v = threadIdx.x; v < vectors; v += 64) {
    const float4 four = fours[v];
    largest = fmaxf(fmaxf(fmaxf(largest, four.x), fmaxf(four.y, four.z)), four.w);
  }
  for (int c = 4 * vectors + threadIdx.x; c < columns; c += 64) largest = fmaxf(largest, x[c]);
  largest = Combined(largest, partials, false);
  float sum = 0.0f;
  for (int v = threadIdx.x; v < vectors; v += 64) {
    const float4 four = fours[v];
    sum += (expf(four.x - largest) + expf(four.y - largest)) + (expf(four.z - largest) + expf(four.w - largest));
  }
  for (int c = 4 * vectors + threadIdx.x; c < columns; c += 64) sum += expf(x[c] - largest);
  sum = Combined(sum, partials, true);
  for (int c = threadIdx.x; c < columns; c += 64) y[c] = expf(x[c] - largest) / sum;
}
