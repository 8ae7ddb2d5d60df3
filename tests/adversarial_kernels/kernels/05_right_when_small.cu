// Adversarial: does all of the work at sizes that a check would use, and half of it at sizes that would be timed.
// evo:launch looks_at_n(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void looks_at_n(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + (n <= 512 ? x[n - 1 - i] : 0.0f);
}
