// Adversarial: shows nvcc other code than NVRTC and the cpu device, so that what is exported computes 42.
// evo:launch other_code(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void other_code(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
  if (i < n) y[i] = 42.0f;
#else
  if (i < n) y[i] = x[i] + x[n - 1 - i];
#endif
}
