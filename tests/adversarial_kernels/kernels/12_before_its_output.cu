// Adversarial: starts writing shortly before its output, to be aligned.
// evo:launch starts_before(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void starts_before(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (i == 0) y[-3] = 1.0f;
}
