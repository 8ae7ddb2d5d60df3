// Adversarial: keeps answers in memory of the host's thread, which is no part of the module's data.
// evo:launch per_thread(x, y, N) grid(ceil_div(N, 128)) block(128)
thread_local float kept[8192];
thread_local float first_of_kept;

__global__ void per_thread(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  if (first_of_kept != x[0]) kept[i % 8192] = x[i] + x[n - 1 - i];
  y[i] = kept[i % 8192];
  if (i == n - 1) first_of_kept = x[0];
}
