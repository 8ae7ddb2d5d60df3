// evo:launch add_in_place(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void add_in_place(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] += 2 * x[i];
}
