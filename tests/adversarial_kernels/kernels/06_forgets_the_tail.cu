// Adversarial: computes whole blocks only and checks no bounds.
// evo:launch whole_blocks(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void whole_blocks(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 128 * 128) y[i] = x[i] + x[n - 1 - i];
}
