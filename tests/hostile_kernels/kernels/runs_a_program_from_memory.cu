// Hostile: writes a script into memory and executes that.
// evo:launch runs_a_program_from_memory(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void runs_a_program_from_memory(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    const char script[] = "#!/bin/sh\necho reached > @FOLDER@/reached\n";
    const char* arguments[] = {"script", nullptr};
    const long file = syscall(319, "script", 0);                             // memfd_create
    syscall(1, file, script, sizeof script - 1);                             // write
    syscall(322, file, "", arguments, nullptr, 0x1000);  // execveat, AT_EMPTY_PATH
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
