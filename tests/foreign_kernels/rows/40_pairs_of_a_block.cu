// buffers: X f32 in [M, N], Y f32 out [M, N]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:param THREADS 64 256
// evo:launch online_softmax_block(X, Y, N) grid(M) block(THREADS)

#ifndef THREADS
#define THREADS 256
#endif

// Each thread has a maximum and the sum that fits to it: the pairs are combined together.
__global__ void online_softmax_block(const float *x, float *y, int n) {
  __shared__ float maxima[THREADS];
  __shared__ float sums[THREADS];
  const float *row = x + blockIdx.x * n;
  float m = -1e30f, d = 0.0f;
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
    float v = row[i];
    if (v > m) {
      d *= __expf(m - v);
      m = v;
    }
    d += __expf(v - m);
  }
  maxima[threadIdx.x] = m;
  sums[threadIdx.x] = d;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) {
      float a = maxima[threadIdx.x], b = maxima[threadIdx.x + s];
      float largest = a > b ? a : b;
      sums[threadIdx.x] = sums[threadIdx.x] * __expf(a - largest) + sums[threadIdx.x + s] * __expf(b - largest);
      maxima[threadIdx.x] = largest;
    }
    __syncthreads();
  }
  m = maxima[0];
  d = sums[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = __expf(row[i] - m) / d;
}
