// Fault: declares 280,000 bytes of static shared memory.
// evo:launch too_large(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void too_large(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[70000];
  s[threadIdx.x] = i;
  __syncthreads();
  if (i < n) y[i] = s[0];
}
