// evo:launch add_reference(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void add_reference(const float* x, double* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] += 2 * static_cast<double>(x[i]);
}
