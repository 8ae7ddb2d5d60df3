// Adversarial: each block sets the next block's part to zero before it writes its own, which is right only if blocks run in order.
// evo:launch zeroes_ahead(x, y, N) grid(ceil_div(N, 128)) block(128)

// Returns `at`, for which a thread needs some microseconds.
__device__ int Late(const float* x, int at) {
  for (int step = 0; step < 32; ++step) at += isnan(x[at]);
  return at;
}

__global__ void zeroes_ahead(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i + 128 < n) y[i + 128] = 0;
  if (i < n) y[i] = x[Late(x, i)] + x[n - 1 - i];
}
