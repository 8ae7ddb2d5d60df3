// Hostile: connects to a port of this machine.
// evo:launch connects_to_a_port(x, y, N) grid(ceil_div(N, 128)) block(128)
extern "C" __device__ long syscall(long number, ...) noexcept;

__global__ void connects_to_a_port(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) {
    struct {
      unsigned short family;
      unsigned short port;
      unsigned char host[4];
      char zeros[8];
    } address = {2, static_cast<unsigned short>((@PORT@ >> 8) | (@PORT@ << 8)), {127, 0, 0, 1}, {}};
    const long file = syscall(41, 2, 1, 0);                                         // socket, AF_INET
    if (file >= 0 && syscall(42, file, &address, sizeof address) == 0) __trap();  // connect
  }
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}
