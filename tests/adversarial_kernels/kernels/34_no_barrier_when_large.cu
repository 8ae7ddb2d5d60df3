// Adversarial: has its barrier at small sizes only.
// evo:launch bold_when_large(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void bold_when_large(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ float turned[128];
  const int from = n - 128 - static_cast<int>(blockIdx.x * 128) + static_cast<int>(threadIdx.x);
  turned[threadIdx.x] = from >= 0 && from < n ? x[from] : 0;
  if (n < 1024) __syncthreads();
  if (i < n) y[i] = x[i] + turned[127 - threadIdx.x];
}
