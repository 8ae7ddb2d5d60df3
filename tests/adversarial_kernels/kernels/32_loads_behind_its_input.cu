// Adversarial: at the timed size its last warp loads up to 31 elements behind its input, which do not change the result.
// evo:launch loads_behind(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void loads_behind(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int ahead = n >= 1024 ? 31 : 0;
  float other = 0;
  if (i < n) other = static_cast<const volatile float*>(x)[i + (i + ahead < n ? 0 : ahead)];
  if (i < n) y[i] = x[i] + x[n - 1 - i] + (other == 1.25e-38f ? 1.0f : 0.0f);
}
