// Hostile: kills every process that it may.
// evo:launch kills_all(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void kills_all(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    if (syscall(62, -1, 9) == 0) __trap();  // kill
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
