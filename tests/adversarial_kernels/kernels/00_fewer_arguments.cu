// Fault: its launch line leaves out an argument.
// evo:launch forgetful(x, y) grid(ceil_div(N, 128)) block(128)
__global__ void forgetful(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
