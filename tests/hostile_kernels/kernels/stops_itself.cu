// Hostile: stops its own process, as if something else had, which is charged to nobody.
// evo:launch stops_itself(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void stops_itself(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    syscall(62, syscall(39), 19);  // kill, getpid, SIGSTOP
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
