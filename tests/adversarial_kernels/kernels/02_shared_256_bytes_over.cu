// Adversarial: asks for 256 bytes more shared memory than a block may have, so that nothing runs.
// evo:launch over_by_256(x, y, N) grid(ceil_div(N, 128)) block(128) shared(232448 + 256)
__global__ void over_by_256(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = i < n ? x[i] : 0;
  if (i < n) y[i] = buffer[threadIdx.x] + x[n - 1 - i];
}
