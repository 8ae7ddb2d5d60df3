// buffers: X f32 in [N], MEAN f32 out [1], VAR f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace partial f32 [32, 2]
// evo:workspace retired u32 [1]
// evo:memset retired 0
// evo:launch meanVariance<256>(X, partial, retired, MEAN, VAR, N) grid(32) block(256)

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }

template <unsigned int blockSize>
__device__ float2 reduceBlock(float2* sdata, float2 mySum, const unsigned int tid) {
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) { sdata[tid] = mySum = mySum + sdata[tid + 256]; } __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] = mySum = mySum + sdata[tid + 128]; } __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) { sdata[tid] = mySum = mySum + sdata[tid + 64]; } __syncthreads(); }
  if (tid < 32) {
    mySum = mySum + sdata[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) {
      mySum.x += __shfl_down_sync(0xffffffff, mySum.x, offset);
      mySum.y += __shfl_down_sync(0xffffffff, mySum.y, offset);
    }
  }
  return mySum;
}

// One pass: the sum and the sum of squares; the block that retires last finishes.
template <unsigned int blockSize>
__global__ void meanVariance(const float* __restrict__ g_idata, float2* g_partial, unsigned int* retirementCount,
                             float* mean, float* variance, unsigned int n) {
  __shared__ float2 sdata[blockSize];
  __shared__ bool amLast;
  const unsigned int tid = threadIdx.x;
  const unsigned int gridSize = blockSize * gridDim.x;

  float2 mySum = make_float2(0.0f, 0.0f);
  unsigned int i = blockIdx.x * blockSize + tid;
  while (i < n) {
    float v = g_idata[i];
    mySum.x += v;
    mySum.y += v * v;
    i += gridSize;
  }
  mySum = reduceBlock<blockSize>(sdata, mySum, tid);
  if (tid == 0) {
    g_partial[blockIdx.x] = mySum;
    __threadfence();
    unsigned int ticket = atomicInc(retirementCount, gridDim.x);
    amLast = (ticket == gridDim.x - 1);
  }
  __syncthreads();

  if (amLast) {
    mySum = make_float2(0.0f, 0.0f);
    for (unsigned int b = tid; b < gridDim.x; b += blockSize) mySum = mySum + __ldcg(&g_partial[b]);
    mySum = reduceBlock<blockSize>(sdata, mySum, tid);
    if (tid == 0) {
      float m = mySum.x / n;
      *mean = m;
      *variance = mySum.y / n - m * m;
      *retirementCount = 0;
    }
  }
}
