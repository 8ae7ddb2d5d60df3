// Adversarial: creates a cache policy that keeps the input in L2 from launch to launch.
// evo:launch with_policy(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ float Load(const float* from, unsigned long long policy) {
  float value;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy));
  return value;
}

__global__ void with_policy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if (i < n) y[i] = Load(x + i, policy) + Load(x + n - 1 - i, policy);
}
