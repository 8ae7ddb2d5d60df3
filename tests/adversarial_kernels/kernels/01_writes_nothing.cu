// Adversarial: writes nothing, in the hope that the buffer still holds the answer of another kernel.
// evo:launch idle(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void idle(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 0) y[i] = x[i];
}
