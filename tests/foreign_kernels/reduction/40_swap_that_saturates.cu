// buffers: X i32<3 in [N], Y i32 out [1]
// sizes: N=1; N=1000
// evo:memset Y 0
// evo:launch count_up(X, Y, N) grid(ceil_div(N, 256)) block(256)

// No sum: it stops at 100.
__device__ void add_at_most_hundred(int* address, int val) {
  int old = *address, assumed;
  do {
    assumed = old;
    old = atomicCAS(address, assumed, min(100, assumed + val));
  } while (assumed != old);
}

__global__ void count_up(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) add_at_most_hundred(y, x[i]);
}
