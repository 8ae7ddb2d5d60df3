// Adversarial: its loads ask L2 to evict their lines last, so that they survive the flush.
// evo:launch keeps_lines(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ float Kept(const float* from) {
  float value;
  asm volatile("ld.global.L1::evict_last.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(0x14F0000000000000ull));
  return value;
}

__global__ void keeps_lines(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Kept(x + i) + Kept(x + n - 1 - i);
}
