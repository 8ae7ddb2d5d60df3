// Honest: uses 100,000 bytes of dynamic shared memory to the last byte.
// evo:launch large_shared(x, y, N) grid(ceil_div(N, 128)) block(128) shared(100000)
__global__ void large_shared(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ float buffer[];
  float* last = buffer + 25000 - 128;
  last[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = last[threadIdx.x] + x[n - 1 - i];
}
