// Adversarial: excludes itself from the checked mode by an attribute whose name macros put together.
// evo:launch excluded(x, y, N) grid(ceil_div(N, 128)) block(128)
#define JOIN(a, b) a##b
#define UNCHECKED __attribute__((JOIN(no_, sanitize)("thread")))

UNCHECKED __device__ float Behind(const float* x, int i, int n) { return static_cast<const volatile float*>(x)[n + i % 31]; }

__global__ void excluded(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i] + (Behind(x, i, n) == 1.25e-38f ? 1.0f : 0.0f);
}
