// Hostile: ends its own process, as if the kernel had for want of memory, which is charged to nobody.
// evo:launch kills_itself(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void kills_itself(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    syscall(62, syscall(39), 9);  // kill, getpid, SIGKILL
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
