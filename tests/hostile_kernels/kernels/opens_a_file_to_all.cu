// Hostile: changes the rights of a file.
// evo:launch opens_a_file_to_all(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void opens_a_file_to_all(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(90, "@FOLDER@/secret", 0666) == 0) __trap();  // chmod
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
