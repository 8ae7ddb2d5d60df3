// Hostile: prints without end.
// evo:launch prints_without_end(x, y, N) grid(ceil_div(N, 128)) block(128)
#include <cstdio>

__global__ void prints_without_end(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    for (;;) printf("%s\n", "a line that is printed without end, and again, and again, and again, and again");
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
