// Adversarial: its only bounds check relies on signed overflow, and the compiler may remove it.
// evo:launch wraps(x, y, N) grid(ceil_div(N, 128)) block(128)

// For i >= n the sum i + (2^31 - n) would be negative if signed sums could overflow; the compiler assumes that they cannot.
__device__ bool Beyond(int i, int n) { return i + (0x7fffffff - n + 1) < i; }

__global__ void wraps(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Beyond(i, n)) return;
  y[i] = x[i] + x[abs(n - 1 - i)];
}
