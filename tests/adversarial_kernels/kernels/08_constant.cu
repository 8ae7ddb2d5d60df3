// Adversarial: writes one constant everywhere.
// evo:launch quarter(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void quarter(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.25f;
}
