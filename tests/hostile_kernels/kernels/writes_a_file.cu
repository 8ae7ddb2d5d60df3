// Hostile: makes a file.
// evo:launch writes_a_file(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void writes_a_file(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(2, "@FOLDER@/reached", 0102, 0600) >= 0) __trap();  // open, O_CREAT | O_RDWR
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
