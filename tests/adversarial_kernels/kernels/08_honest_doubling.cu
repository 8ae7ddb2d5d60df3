// Honest: reads only one element where both terms are the same element.
// evo:launch reads_less(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void reads_less(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  y[i] = 2 * i == n - 1 ? value + value : value + x[n - 1 - i];
}
