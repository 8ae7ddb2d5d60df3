// Adversarial: writes infinite answers, so that the errors are infinite and their quotient is not a number.
// evo:launch infinite(x, y, N) grid(ceil_div(N, 32)) block(32)
__global__ void infinite(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __int_as_float(0x7f800000);
}
