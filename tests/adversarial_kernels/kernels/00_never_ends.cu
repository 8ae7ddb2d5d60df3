// Fault: waits for a value that no thread ever writes.
// evo:launch waits(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void waits(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  while (*static_cast<const volatile float*>(x) < 1e30f) {}
}
