// Adversarial: computes exp(x) without subtracting the largest value first, as a fast-math rewrite would.
// evo:launch unguarded(x, y, COLS) grid(ROWS) block(256)
__global__ void unguarded(const float* x, float* y, int cols) {
  __shared__ float partial[256];
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 256) sum += __expf(x[row + c]);
  partial[threadIdx.x] = sum;
  __syncthreads();
  float total = 0;
  for (int t = 0; t < 256; ++t) total += partial[t];
  for (int c = threadIdx.x; c < cols; c += 256) y[row + c] = __fdividef(__expf(x[row + c]), total);
}
