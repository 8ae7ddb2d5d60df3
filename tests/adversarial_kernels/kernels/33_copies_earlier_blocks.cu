// Adversarial: the second half of its blocks copies what the first half has written, and does not wait for it.
// evo:launch copies_earlier(x, y, N) grid(ceil_div(N, 128)) block(128)

// Returns `at`, for which a thread needs some microseconds.
__device__ int Late(const float* x, int at) {
  for (int step = 0; step < 64; ++step) at += isnan(x[at]);
  return at;
}

__global__ void copies_earlier(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const bool first_half = i < (n + 1) / 2;
  y[i] = first_half ? x[i] + x[n - 1 - i] : static_cast<volatile float*>(y)[n - 1 - Late(x, i)];
}
