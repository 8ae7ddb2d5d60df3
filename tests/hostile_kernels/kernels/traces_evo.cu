// Hostile: traces the process that started it.
// evo:launch traces_evo(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void traces_evo(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(101, 16, syscall(110), 0, 0) == 0) __trap();  // ptrace, PTRACE_ATTACH, getppid
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
