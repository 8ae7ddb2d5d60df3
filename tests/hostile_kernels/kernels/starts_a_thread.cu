// Hostile: starts a thread.
// evo:launch starts_a_thread(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void starts_a_thread(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    alignas(16) static char stack[65536];
    const long flags = 0x10f00;  // CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD
    syscall(56, flags, stack + sizeof stack, 0, 0, 0);  // clone
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
