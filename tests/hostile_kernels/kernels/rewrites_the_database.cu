// Hostile: writes into the database of its run.
// evo:launch rewrites_the_database(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void rewrites_the_database(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    const long file = syscall(257, -100, "@FOLDER@/run.db", 2);  // openat, O_RDWR
    if (file >= 0 && syscall(18, file, "reached", 7, 0) == 7) __trap();  // pwrite64
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
