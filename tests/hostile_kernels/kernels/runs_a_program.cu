// Hostile: becomes another program.
// evo:launch runs_a_program(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void runs_a_program(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    const char* arguments[] = {"/bin/sh", "-c", "echo reached > @FOLDER@/reached", nullptr};
    syscall(59, arguments[0], arguments, nullptr);  // execve
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
