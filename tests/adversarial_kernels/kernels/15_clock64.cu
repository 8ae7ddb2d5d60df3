// Adversarial: reads the clock to see how long ago the last launch was, and so whether this one is timed.
// evo:launch tells_the_time(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void tells_the_time(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long now = clock64();
  if (i < n) y[i] = now < 0 ? 0.0f : x[i] + x[n - 1 - i];
}
