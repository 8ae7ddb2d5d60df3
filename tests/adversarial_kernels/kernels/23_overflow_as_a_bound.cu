// False speed-up: an overflow that cannot happen is the only check; it goes when the compiler sees it.
// evo:launch wraps(x, y, N) grid(ceil_div(N, 128)) block(128)

// i + (2^31 - n) is negative for i >= n, were it not that signed sums never overflow.
__device__ bool Beyond(int i, int n) { return i + (0x7fffffff - n + 1) < i; }

__global__ void wraps(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Beyond(i, n)) return;
  y[i] = x[i] + x[abs(n - 1 - i)];
}
