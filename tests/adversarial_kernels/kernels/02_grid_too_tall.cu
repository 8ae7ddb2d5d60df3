// Adversarial: asks for 70,000 blocks in y, where 65,535 are possible, so that nothing runs.
// evo:launch tall(x, y, N) grid(ceil_div(N, 128), 70000) block(128)
__global__ void tall(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.y == 0 && i < n) y[i] = x[i] + x[n - 1 - i];
}
