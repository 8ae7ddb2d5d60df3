// Fault: an expression ends too early.
// evo:launch unfinished(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void unfinished(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] +;
}
