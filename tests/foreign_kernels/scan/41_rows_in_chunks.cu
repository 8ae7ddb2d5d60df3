// Running sums of each row by a block, a chunk at a time.
// buffers: X f64 in [R, C], Y f64 out [R, C]
// sizes: R=1 C=1; R=3 C=300; R=5 C=1025
// evo:launch running<double, 128>(X, Y, C) grid(R) block(128)

template <typename T, int kThreads>
__global__ void running(const T* in, T* out, int columns) {
  __shared__ T chunk[kThreads];
  __shared__ T carry;
  const T* x = in + (size_t)blockIdx.x * columns;
  T* y = out + (size_t)blockIdx.x * columns;
  const int t = threadIdx.x;
  if (t == 0) carry = 0;
  for (int start = 0; start < columns; start += kThreads) {
    const int i = start + t;
    chunk[t] = i < columns ? x[i] : T(0);
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
      T left = 0;
      if (t >= d) left = chunk[t - d];
      __syncthreads();
      chunk[t] += left;
      __syncthreads();
    }
    if (i < columns) y[i] = chunk[t] + carry;
    __syncthreads();
    if (t == kThreads - 1) carry += chunk[t];
    __syncthreads();
  }
}
