// Hostile: asks for memory that is writable and executable.
// evo:launch maps_executable_memory(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void maps_executable_memory(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(9, nullptr, 4096, 7, 0x22, -1, 0) > 0) __trap();  // mmap, private and anonymous
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
