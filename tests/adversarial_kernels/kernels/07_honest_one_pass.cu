// Honest: finds the largest value and the sum in one pass, and rescales the sum when the largest value grows.
// evo:launch one_pass(x, y, COLS) grid(ROWS) block(128)
__global__ void one_pass(const float* x, float* y, int cols) {
  __shared__ float largest_of[128];
  __shared__ float sum_of[128];
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  float largest = -3e38f;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) {
    const float value = x[row + c];
    if (value > largest) {
      sum *= expf(largest - value);
      largest = value;
    }
    sum += expf(value - largest);
  }
  largest_of[threadIdx.x] = largest;
  sum_of[threadIdx.x] = sum;
  __syncthreads();
  float top = -3e38f;
  for (int t = 0; t < 128; ++t) top = fmaxf(top, largest_of[t]);
  float total = 0;
  for (int t = 0; t < 128; ++t) total += sum_of[t] * expf(largest_of[t] - top);
  for (int c = threadIdx.x; c < cols; c += 128) y[row + c] = expf(x[row + c] - top) / total;
}
