// buffers: X f32 in [N], Y f32 out [2]
// sizes: N=1; N=700; N=9001
// evo:workspace low f32 [8]
// evo:workspace high f32 [8]
// evo:launch extremes(X, N, low, high, Y) grid(8) block(128)

__device__ unsigned int ticket = 0;

__global__ void extremes(const float* x, int n, float* low, float* high, float* result) {
  __shared__ float smin[128], smax[128];
  __shared__ bool last;
  float lo = INFINITY, hi = -INFINITY;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (i < n) {
    lo = fminf(lo, x[i]);
    hi = fmaxf(hi, x[i]);
    i += gridDim.x * blockDim.x;
  }
  smin[threadIdx.x] = lo;
  smax[threadIdx.x] = hi;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      smin[threadIdx.x] = fminf(smin[threadIdx.x], smin[threadIdx.x + s]);
      smax[threadIdx.x] = fmaxf(smax[threadIdx.x], smax[threadIdx.x + s]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    low[blockIdx.x] = smin[0];
    high[blockIdx.x] = smax[0];
    __threadfence();
    last = atomicAdd(&ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float a = low[0], b = high[0];
    for (int k = 1; k < gridDim.x; ++k) {
      a = fminf(a, low[k]);
      b = fmaxf(b, high[k]);
    }
    result[0] = a;
    result[1] = b;
    ticket = 0;
  }
}
