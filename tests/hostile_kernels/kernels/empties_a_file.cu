// Hostile: empties a file.
// evo:launch empties_a_file(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void empties_a_file(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(76, "@FOLDER@/witness", 0) == 0) __trap();  // truncate
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
