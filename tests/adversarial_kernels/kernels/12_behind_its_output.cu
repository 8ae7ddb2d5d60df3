// Adversarial: checks no bounds at the end and writes one element too many.
// evo:launch one_too_many(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void one_too_many(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (i == 0) y[n] = 1.0f;
}
