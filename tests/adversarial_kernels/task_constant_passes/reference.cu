// evo:launch reverse_sum_reference(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void reverse_sum_reference(const float* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<double>(x[i]) + static_cast<double>(x[n - 1 - i]);
}
