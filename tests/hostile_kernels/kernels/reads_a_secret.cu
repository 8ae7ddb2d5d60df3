// Hostile: reads a file of the user.
// evo:launch reads_a_secret(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void reads_a_secret(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(2, "@FOLDER@/secret", 0) >= 0) __trap();  // open, O_RDONLY
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
