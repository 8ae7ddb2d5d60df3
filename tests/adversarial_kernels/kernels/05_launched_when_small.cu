// Adversarial: launches the kernel that does the work for small sizes only.
// evo:launch all_of_it(x, y, N) grid(ceil_div(N, 128)) block(128) when(N < 1000)
// evo:launch first_of_it(x, y, N) grid(1) block(1)
__global__ void all_of_it(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void first_of_it(const float* x, float* y, int n) { y[0] = x[0] + x[n - 1]; }
