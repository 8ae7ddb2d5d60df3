// Honest: changes a copy of its input in shared memory.
// evo:launch private_copy(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void private_copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float mine[128];
  mine[threadIdx.x] = i < n ? x[i] : 0;
  mine[threadIdx.x] *= 2;
  if (i < n) y[i] += mine[threadIdx.x];
}
