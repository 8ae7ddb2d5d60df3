// evo:launch dot_reference(a, b, y, R, K) grid(ceil_div(R, 32)) block(32)
__global__ void dot_reference(const float* a, const float* b, double* y, int rows, int length) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  double sum = 0;
  for (int k = 0; k < length; ++k) sum += static_cast<double>(a[static_cast<size_t>(r) * length + k]) * static_cast<double>(b[k]);
  y[r] = sum;
}
