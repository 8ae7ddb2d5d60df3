// Hostile: writes machine code into memory, makes that executable and calls it.
// evo:launch makes_memory_executable(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void makes_memory_executable(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    alignas(4096) static unsigned char code[4096];
    code[0] = 0xc3;  // ret
    if (syscall(10, code, sizeof code, 7) == 0) {  // mprotect, PROT_READ | PROT_WRITE | PROT_EXEC
      reinterpret_cast<void (*)()>(code)();
      __trap();
    }
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
