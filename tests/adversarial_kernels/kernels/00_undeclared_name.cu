// Fault: uses a name that is not declared.
// evo:launch undeclared(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void undeclared(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = nothing[i];
}
