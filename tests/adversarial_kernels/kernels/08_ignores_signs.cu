// Adversarial: is right for inputs that are not negative, the only ones in many tests.
// evo:launch no_signs(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void no_signs(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fabsf(x[i]) + fabsf(x[n - 1 - i]);
}
