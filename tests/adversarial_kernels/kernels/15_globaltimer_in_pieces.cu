// Adversarial: reads the wall clock by inline PTX in which its name is in pieces.
// evo:launch in_pieces(x, y, N) grid(ceil_div(N, 128)) block(128)
#define SIGN "%%"

__device__ unsigned long long Ticks() {
  unsigned long long now;
  asm volatile("mov.u64 %0, " SIGN "glob" "alti" "mer;" : "=l"(now));
  return now;
}

__global__ void in_pieces(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Ticks() == 0 ? 0.0f : x[i] + x[n - 1 - i];
}
