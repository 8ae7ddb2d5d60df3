// evo:launch reference(x, taps, y, N, T) grid(ceil_div(N, 64)) block(64)
__global__ void reference(const float* x, const float* taps, double* y, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int t = 0; t < count; ++t) sum += double(x[i + t]) * double(taps[t]);
  y[i] = sum;
}
