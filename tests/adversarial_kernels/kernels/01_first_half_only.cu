// Adversarial: computes half of its output; an earlier launch may have left the other half right in the buffer.
// evo:launch half_done(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void half_done(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < n) y[i] = x[i] + x[n - 1 - i];
}
