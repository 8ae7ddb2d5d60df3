// Hostile: connects to a socket of the file system.
// evo:launch connects_to_a_socket(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void connects_to_a_socket(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    struct {
      unsigned short family;
      char path[108];
    } address = {1, "@FOLDER@/socket"};
    const long file = syscall(41, 1, 1, 0);                                         // socket, AF_UNIX
    if (file >= 0 && syscall(42, file, &address, sizeof address) == 0) __trap();  // connect
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
