// buffers: X f32 in [N], Y f32 out [N]
// sizes: N=1; N=300; N=5003
// evo:workspace aggregates f32 [ceil_div(N, 128)]
// evo:launch ScanKernel<SumOp<float>, 128>(X, Y, aggregates, N) grid(ceil_div(N, 128)) block(128)
// evo:launch ScanAggregates<SumOp<float>>(aggregates, ceil_div(N, 128)) grid(1) block(1)
// evo:launch Propagate<SumOp<float>, 128>(Y, aggregates, N) grid(ceil_div(N, 128)) block(128)

template <typename T>
struct SumOp {
  using type = T;
  static __device__ T identity() { return T(0); }
  static __device__ T apply(T a, T b) { return a + b; }
};

template <class Op, int THREADS>
__global__ void ScanKernel(const typename Op::type* in, typename Op::type* out, typename Op::type* aggregates, int n) {
  using T = typename Op::type;
  __shared__ T buf[THREADS];
  const int tid = threadIdx.x;
  const int gid = blockIdx.x * THREADS + tid;
  T x = gid < n ? in[gid] : Op::identity();
  buf[tid] = x;
  __syncthreads();
#pragma unroll
  for (int off = 1; off < THREADS; off <<= 1) {
    T y = Op::identity();
    if (tid >= off) y = buf[tid - off];
    __syncthreads();
    x = Op::apply(y, x);
    buf[tid] = x;
    __syncthreads();
  }
  if (gid < n) out[gid] = x;
  if (tid == THREADS - 1) aggregates[blockIdx.x] = x;
}

template <class Op>
__global__ void ScanAggregates(typename Op::type* a, int m) {
  typename Op::type run = Op::identity();
  for (int k = 0; k < m; ++k) a[k] = run = Op::apply(run, a[k]);
}

template <class Op, int THREADS>
__global__ void Propagate(typename Op::type* out, const typename Op::type* aggregates, int n) {
  const int gid = blockIdx.x * THREADS + threadIdx.x;
  if (blockIdx.x == 0 || gid >= n) return;
  out[gid] = Op::apply(aggregates[blockIdx.x - 1], out[gid]);
}
