// Honest: computes values that are not numbers, and none of them reaches the output.
// evo:launch nan_inside(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void nan_inside(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = __int_as_float(0x7fffffff);
  if (i < n) value = x[i];
  if (value == value) y[i] = fminf(value, __int_as_float(0x7f800000)) + x[n - 1 - i];
}
