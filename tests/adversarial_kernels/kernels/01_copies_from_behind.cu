// Adversarial: copies what lies behind its output, where the buffer with the right answer may be.
// evo:launch copy_from_behind(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void copy_from_behind(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i + n + 2048];
}
