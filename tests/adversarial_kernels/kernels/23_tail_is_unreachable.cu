// Adversarial: declares threads beyond the end unreachable, so that the compiler drops the check.
// evo:launch swears(x, y, N) grid(ceil_div(N, 128)) block(128)
#define SWEAR(condition) if (!(condition)) __builtin_unreachable()

__global__ void swears(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  SWEAR(i < n);
  if (i < n) y[i] = x[i] + x[abs(n - 1 - i)];
}
