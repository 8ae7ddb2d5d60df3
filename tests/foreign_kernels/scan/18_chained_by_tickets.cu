// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace ticket u32 [1]
// evo:workspace ready u32 [ceil_div(N, 256)]
// evo:workspace carry i32 [ceil_div(N, 256)]
// evo:memset ticket 0
// evo:memset ready 0
// evo:launch scan_chained(X, Y, ticket, ready, carry, N) grid(ceil_div(N, 256)) block(256)

// A block waits until the one before it has said what its last prefix is.
__global__ void scan_chained(const int* __restrict__ x, int* __restrict__ y, unsigned int* ticket, volatile unsigned int* ready,
                             volatile int* carry, int n) {
  __shared__ unsigned int my_ticket;
  __shared__ int s[256];
  __shared__ int before;
  if (threadIdx.x == 0) my_ticket = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned int b = my_ticket;
  const int i = b * 256 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d <<= 1) {
    const int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int sum = 0;
    if (b > 0) {
      while (ready[b - 1] == 0) {
      }
      __threadfence();
      sum = carry[b - 1];
    }
    carry[b] = sum + s[255];
    __threadfence();
    ready[b] = 1;
    before = sum;
  }
  __syncthreads();
  if (i < n) y[i] = before + s[threadIdx.x];
}
