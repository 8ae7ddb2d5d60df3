// Hostile: makes files in memory without end, which the limit of the address space does not count.
// evo:launch opens_many_files(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void opens_many_files(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    int made = 0;
    while (made < 300 && syscall(319, "evo", 0) >= 0) ++made;  // memfd_create
    if (made == 300) __trap();
    for (int file = 3; file < 300; ++file) {
      if (file > 40) syscall(3, file);  // close
    }
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
