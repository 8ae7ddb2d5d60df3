// Adversarial: a second kernel writes the answer into the input, where the next launch finds it.
// evo:launch answer(x, y, N) grid(ceil_div(N, 128)) block(128)
// evo:launch keep(y, x, N) grid(ceil_div(N, 128)) block(128)
__global__ void answer(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void keep(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
