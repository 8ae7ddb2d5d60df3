// Honest: computes the sum of 25_assumes_zeros and sets it to zero first.
// evo:launch starts_at_zero(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void starts_at_zero(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float sum[128];
  sum[threadIdx.x] = 0;
  if (i < n) sum[threadIdx.x] += x[i];
  if (i < n) y[i] = sum[threadIdx.x] + x[n - 1 - i];
}
