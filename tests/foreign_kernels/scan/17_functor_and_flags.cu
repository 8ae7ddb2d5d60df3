// buffers: X i32<100 in [N], Y i32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace tmp i32 [ceil_div(N, 128)]
// evo:launch scan_any<int, Add, true>(X, Y, tmp, N) grid(ceil_div(N, 128)) block(128)
// evo:launch scan_any<int, Add, false>(tmp, tmp, tmp, ceil_div(N, 128)) grid(1) block(128)
// evo:launch apply<int, Add>(Y, tmp, N) grid(ceil_div(N, 128)) block(128)

struct Add {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};

// Kogge-Stone with two buffers, for any associative operator. A block that is alone takes all elements, part after part.
template <typename T, typename Op, bool STORE_SUM>
__global__ void scan_any(const T* in, T* out, T* sums, int n) {
  __shared__ T buffer[2][128];
  Op op;
  T before = 0;
  for (int base = blockIdx.x * 128; base < n; base += gridDim.x * 128) {
    int i = base + threadIdx.x;
    int cur = 0;
    buffer[cur][threadIdx.x] = i < n ? in[i] : T(0);
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
      T v = buffer[cur][threadIdx.x];
      if (threadIdx.x >= d) v = op(buffer[cur][threadIdx.x - d], v);
      buffer[1 - cur][threadIdx.x] = v;
      cur = 1 - cur;
      __syncthreads();
    }
    if (i < n) out[i] = op(before, buffer[cur][threadIdx.x]);
    before = op(before, buffer[cur][127]);
    __syncthreads();
  }
  if (STORE_SUM && threadIdx.x == 127) sums[blockIdx.x] = before;
}

template <typename T, typename Op>
__global__ void apply(T* out, const T* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] = Op()(sums[blockIdx.x - 1], out[i]);
}
