// Hostile: reads the variables of its process, which may hold keys.
// evo:launch reads_its_environment(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void reads_its_environment(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(2, "/proc/self/environ", 0) >= 0) __trap();  // open, O_RDONLY
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
