// Hostile: reads the memory of the process that started it.
// evo:launch reads_the_memory_of_evo(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void reads_the_memory_of_evo(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    char byte = 0;
    struct {
      void* begin;
      unsigned long bytes;
    } mine = {&byte, 1}, theirs = {reinterpret_cast<void*>(0x400000), 1};
    if (syscall(310, syscall(110), &mine, 1, &theirs, 1, 0) >= 0) __trap();  // process_vm_readv, getppid
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
