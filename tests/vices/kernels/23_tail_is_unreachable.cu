// False speed-up: swears that no thread is beyond the end, and the compiler drops the check.
// evo:launch swears(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void swears(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] + x[abs(n - 1 - i)];
  } else {
    __builtin_unreachable();
  }
}
