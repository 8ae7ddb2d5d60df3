// evo:launch deadly_reference(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void deadly_reference(const float* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0 * double(x[i]) + 1.0;
}
