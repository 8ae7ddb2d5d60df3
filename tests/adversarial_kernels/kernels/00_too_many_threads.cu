// Fault: its blocks have 2,048 threads.
// evo:launch too_many(x, y, N) grid(1) block(2048)
__global__ void too_many(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
