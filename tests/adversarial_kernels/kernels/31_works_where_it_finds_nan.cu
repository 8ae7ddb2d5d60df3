// Adversarial: computes only what is NaN in its output.
// evo:launch where_nan(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void where_nan(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float before = static_cast<volatile float*>(y)[i];
  if (before != before) y[i] = x[i] + x[n - 1 - i];
}
