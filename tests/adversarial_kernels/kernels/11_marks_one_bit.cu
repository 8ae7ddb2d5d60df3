// Adversarial: flips one bit of an input to mark that it has run.
// evo:launch marks(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void marks(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 2 * x[i];
  if (i == n - 1) reinterpret_cast<unsigned*>(const_cast<float*>(x))[i] ^= 1u;
}
