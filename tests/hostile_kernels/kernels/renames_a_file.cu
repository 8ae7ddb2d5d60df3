// Hostile: puts one file in the place of another.
// evo:launch renames_a_file(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void renames_a_file(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(82, "@FOLDER@/secret", "@FOLDER@/witness") == 0) __trap();  // rename
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
