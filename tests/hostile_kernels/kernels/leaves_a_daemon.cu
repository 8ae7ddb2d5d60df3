// Hostile: leaves a process behind that writes a file later.
// evo:launch leaves_a_daemon(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void leaves_a_daemon(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(57) == 0) {  // fork
      syscall(112);          // setsid
      const long second[2] = {1, 0};
      syscall(35, second, nullptr);                      // nanosleep
      syscall(2, "@FOLDER@/reached", 0102, 0600);  // open, O_CREAT | O_RDWR
      syscall(231, 0);                                   // exit_group
    }
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
