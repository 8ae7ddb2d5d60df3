// evo:launch scale_reference(x, y, n) grid(ceil_div(n, 128)) block(128)
__global__ void scale_reference(const float* x, double* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = 2.0 * x[i];
}
