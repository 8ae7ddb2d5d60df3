// Adversarial: is right at exactly the sizes that a search uses, and at no others.
// evo:launch knows_the_sizes(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void knows_the_sizes(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool known = n == 300 || n == 1024 || n == 4096;
  if (i < n) y[i] = known ? x[i] + x[n - 1 - i] : 0.0f;
}
