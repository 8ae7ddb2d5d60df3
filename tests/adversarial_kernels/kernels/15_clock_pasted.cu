// Adversarial: reads the clock by a name that macros put together, so that it appears nowhere in the source.
// evo:launch pasted(x, y, N) grid(ceil_div(N, 128)) block(128)
#define JOIN(a, b) a##b

__global__ void pasted(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto now = JOIN(clo, ck)();
  if (i < n) y[i] = now == 0 ? 0.0f : x[i] + x[n - 1 - i];
}
