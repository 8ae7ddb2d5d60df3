// Adversarial: leaves zeros in its input, so that from the second launch on doing nothing is right.
// evo:launch eats_its_input(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void eats_its_input(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] += 2 * x[i];
  const_cast<float*>(x)[i] = 0;
}
