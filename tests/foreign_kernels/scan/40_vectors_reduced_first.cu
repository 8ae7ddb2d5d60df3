// Sums of tiles of vectors, their prefix sums by one block, then the tiles from there; whole vectors only.
// buffers: X u32<1000 in [N], Y u32 out [N]
// sizes: N=4; N=1000; N=20000; N=1026
// evo:workspace SUMS u32 [ceil_div(N, T * 4)]
// evo:launch tiles(X, SUMS, N / 4) grid(ceil_div(N, T * 4)) block(T)
// evo:launch spine(SUMS, ceil_div(N, T * 4)) grid(1) block(T)
// evo:launch scan_tiles(X, Y, SUMS, N / 4) grid(ceil_div(N, T * 4)) block(T)
// evo:param T 32 64 128
#ifndef T
#define T 64
#endif

__device__ unsigned before_thread(unsigned v, unsigned &total) {
  __shared__ unsigned s[T];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 1; d < T; d *= 2) {
    unsigned left = threadIdx.x >= d ? s[threadIdx.x - d] : 0u;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  unsigned before = s[threadIdx.x] - v;
  total = s[T - 1];
  __syncthreads();
  return before;
}

__global__ void tiles(const uint4 *in, unsigned *sums, int vectors) {
  const int i = blockIdx.x * T + threadIdx.x;
  unsigned sum = 0;
  if (i < vectors) {
    uint4 v = in[i];
    sum = v.x + v.y + v.z + v.w;
  }
  unsigned total;
  unsigned mine = before_thread(sum, total);
  if (threadIdx.x == T - 1) sums[blockIdx.x] = mine + sum;
}

__global__ void spine(unsigned *sums, int count) {
  unsigned carry = 0;
  for (int base = 0; base < count; base += T) {
    const int i = base + threadIdx.x;
    const unsigned v = i < count ? sums[i] : 0u;
    unsigned total;
    const unsigned before = before_thread(v, total);
    if (i < count) sums[i] = carry + before;
    carry += total;
  }
}

__global__ void scan_tiles(const uint4 *in, uint4 *out, const unsigned *offsets, int vectors) {
  const int i = blockIdx.x * T + threadIdx.x;
  uint4 v = make_uint4(0, 0, 0, 0);
  if (i < vectors) v = in[i];
  unsigned total;
  unsigned p = before_thread(v.x + v.y + v.z + v.w, total) + offsets[blockIdx.x];
  uint4 r;
  r.x = p;
  r.y = r.x + v.x;
  r.z = r.y + v.y;
  r.w = r.z + v.z;
  if (i < vectors) out[i] = r;
}
