// evo:param BLOCK 64 128 256
// evo:launch row_softmax(x, y, COLS) grid(ROWS) block(BLOCK)
#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void row_softmax(const float* x, float* y, int cols) {
  __shared__ float partial[BLOCK];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  float largest = -3e38f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) largest = fmaxf(largest, row[c]);
  partial[threadIdx.x] = largest;
  __syncthreads();
  for (int t = 0; t < BLOCK; ++t) largest = fmaxf(largest, partial[t]);
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(row[c] - largest);
  partial[threadIdx.x] = sum;
  __syncthreads();
  float total = 0;
  for (int t = 0; t < BLOCK; ++t) total += partial[t];
  for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = expf(row[c] - largest) / total;
}
