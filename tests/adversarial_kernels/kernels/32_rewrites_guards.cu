// Adversarial: at the timed size it reads bytes behind its output and writes them back as they were.
// evo:launch rewrites(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void rewrites(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
  if (n < 1024 || i >= 31) return;
  volatile float* behind = y + n;
  const float value = behind[i];
  behind[i] = value;
}
