// Hostile: includes /etc/passwd, whose first line g++ would print.
// evo:launch includes_the_accounts(x, y, N) grid(ceil_div(N, 128)) block(128)
#include "/etc/passwd"

__global__ void includes_the_accounts(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
