// Adversarial: launches an empty kernel first, in case only the first or the shortest record counts.
// evo:launch nothing() grid(1) block(32)
// evo:launch everything(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void nothing() {}

__global__ void everything(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
