// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=30011
// evo:workspace partial f32 [64]
// evo:workspace done u32 [1]
// evo:memset done 0
// evo:launch sum_in_one_launch(X, partial, Y, done, N) grid(64) block(128)

__device__ float block_sum(float v, float* shared) {
  const int t = threadIdx.x;
  shared[t] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) shared[t] += shared[t + s];
    __syncthreads();
  }
  return shared[0];
}

// The block that is last adds up what all have left.
__global__ void sum_in_one_launch(const float* x, volatile float* partial, float* y, unsigned int* done, int n) {
  __shared__ float shared[128];
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  v = block_sum(v, shared);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0.f;
    v = block_sum(v, shared);
    if (threadIdx.x == 0) y[0] = v;
  }
}
