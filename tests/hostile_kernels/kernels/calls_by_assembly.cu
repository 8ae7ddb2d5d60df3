// Hostile: makes a system call by an instruction of the host.
// evo:launch calls_by_assembly(x, y, N) grid(ceil_div(N, 128)) block(128)

__global__ void calls_by_assembly(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    asm volatile("mov $57, %eax; syscall" ::: "memory");  // fork
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
