// Adversarial: adds to shared memory that it has not set to zero.
// evo:launch adds_to_leftovers(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void adds_to_leftovers(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float sum[128];
  if (i < n) sum[threadIdx.x] += x[i];
  if (i < n) y[i] = sum[threadIdx.x] + x[n - 1 - i];
  sum[threadIdx.x] = 0;
}
