// A grid of one size takes pairs of vectors in rounds, and has more partial sums than threads.
// buffers: A f32 in [P, N], B f32 in [P, N], D f32 out [P]
// sizes: P=1 N=1; P=9 N=130; P=101 N=700
// evo:launch similarity(A, B, D, P, N) grid(24) block(64)

#define PARTS 256

__global__ void similarity(const float* a, const float* b, float* d, int pairs, int n) {
  __shared__ float part[PARTS];
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const int begin = __mul24(pair, n), end = begin + n;
    for (int p = threadIdx.x; p < PARTS; p += blockDim.x) {
      float sum = 0;
      for (int i = begin + p; i < end; i += PARTS) sum += a[i] * b[i];
      part[p] = sum;
    }
    for (int half = PARTS / 2; half > 0; half >>= 1) {
      __syncthreads();
      for (int p = threadIdx.x; p < half; p += blockDim.x) part[p] += part[p + half];
    }
    __syncthreads();
    if (threadIdx.x == 0) __stcs(d + pair, part[0]);
  }
}
