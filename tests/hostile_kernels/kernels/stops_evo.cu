// Hostile: stops the process that started it.
// evo:launch stops_evo(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void stops_evo(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(234, syscall(110), syscall(110), 19) == 0) __trap();  // tgkill, getppid
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
