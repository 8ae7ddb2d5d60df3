// Adversarial: its index passes through fp32, so that past 2^24 elements neighbours get the same one.
// evo:launch float_index(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void float_index(const float* x, float* y, int n) {
  const float number = static_cast<float>(blockIdx.x * 128 + threadIdx.x);
  const int i = static_cast<int>(number);
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
