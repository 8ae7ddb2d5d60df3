// Hostile: reads /etc/passwd at run time.
// evo:launch reads_the_accounts(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void reads_the_accounts(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(2, "/etc/passwd", 0) >= 0) __trap();  // open, O_RDONLY
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
