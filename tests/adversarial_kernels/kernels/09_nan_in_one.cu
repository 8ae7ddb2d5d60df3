// Adversarial: writes one element that is not a number, for which every comparison is false.
// evo:launch one_nan(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void one_nan(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = i == 7 ? __int_as_float(0x7fffffff) : x[i] + x[n - 1 - i];
}
