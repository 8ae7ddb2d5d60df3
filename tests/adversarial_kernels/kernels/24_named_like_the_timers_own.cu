// Adversarial: does the work in a kernel named like one that the timer runs for itself and does not count.
// evo:launch evo_touch(x, y, N) grid(ceil_div(N, 128)) block(128)
// evo:launch last_element(x, y, N) grid(1) block(1)
extern "C" __global__ void evo_touch(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

__global__ void last_element(const float* x, float* y, int n) { y[n - 1] = x[n - 1] + x[0]; }
