// Fault: writes to an address at which no memory can be.
// evo:launch low(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void low(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  *reinterpret_cast<volatile float*>(16) = 1.0f;
}
