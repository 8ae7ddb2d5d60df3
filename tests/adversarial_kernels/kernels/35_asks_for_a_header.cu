// Adversarial: tells the compilers apart by a header that only one of them has.
// evo:launch asks_for_a_header(x, y, N) grid(ceil_div(N, 128)) block(128)
#if __has_include(<cstdlib>) && __has_include(<cuda_runtime_api.h>) && defined(__NVCC__)
constexpr float kFactor = 42.0f;
#else
constexpr float kFactor = 1.0f;
#endif

__global__ void asks_for_a_header(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = kFactor * (x[i] + x[n - 1 - i]);
}
