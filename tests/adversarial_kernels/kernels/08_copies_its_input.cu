// Adversarial: copies its input, which has the right shape and scale.
// evo:launch copies(x, y, N) grid(ceil_div(N, 128)) block(128)
template <typename T>
__device__ T Same(T value) {
  return value;
}

__global__ void copies(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Same(x[i]);
}
