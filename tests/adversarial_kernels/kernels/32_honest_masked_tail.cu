// Honest: four elements at a time, and a tail that is masked instead of read.
// evo:launch masked_tail(x, y, N) grid(ceil_div(N, 512)) block(128)
__global__ void masked_tail(const float* x, float* y, int n) {
  const int first = 4 * (blockIdx.x * 128 + threadIdx.x);
#pragma unroll
  for (int i = first; i < first + 4; ++i) {
    if (i < n) y[i] = x[i] + x[n - 1 - i];
  }
}
