// Honest: a fixed grid whose threads go on until the end, with indices of 64 bits.
// evo:launch wide_index(x, y, N) grid(min(ceil_div(N, 128), 320)) block(128)
__global__ void wide_index(const float* x, float* y, int n) {
  for (long long i = blockIdx.x * 128ll + threadIdx.x; i < n; i += gridDim.x * 128ll) y[i] = x[i] + x[n - 1 - i];
}
