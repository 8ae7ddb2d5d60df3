// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=250; N=9001
// evo:memset Y 0
// evo:launch reduce5(X, Y, N) grid(ceil_div(N, 128)) block(128)

// As before Volta: the last warp relies on its lanes going together.
__device__ void warpReduce(volatile float *sdata, int tid) {
  sdata[tid] += sdata[tid + 32];
  sdata[tid] += sdata[tid + 16];
  sdata[tid] += sdata[tid + 8];
  sdata[tid] += sdata[tid + 4];
  sdata[tid] += sdata[tid + 2];
  sdata[tid] += sdata[tid + 1];
}

__global__ void reduce5(const float *in, float *out, int n) {
  __shared__ float sdata[128];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  if (tid < 64) sdata[tid] += sdata[tid + 64];
  __syncthreads();
  if (tid < 32) warpReduce(sdata, tid);
  if (tid == 0) atomicAdd(out, sdata[0]);
}
