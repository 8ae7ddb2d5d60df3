// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=700; N=9001
// evo:workspace partial f32 [ceil_div(N, 128)]
// evo:launch sum_single_pass(X, partial, Y, N) grid(ceil_div(N, 128)) block(128) shared(128 * 4)

__device__ unsigned int retired = 0;

__device__ float block_sum(float* s, float v) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (unsigned int d = blockDim.x >> 1; d; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] = v = v + s[threadIdx.x + d];
    __syncthreads();
  }
  return v;
}

// The counter of blocks goes back to zero by itself.
__global__ void sum_single_pass(const float* in, float* partial, float* out, int n) {
  extern __shared__ float s[];
  __shared__ bool last;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = block_sum(s, i < n ? in[i] : 0.f);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    unsigned int ticket = atomicInc(&retired, gridDim.x - 1);
    last = (ticket == gridDim.x - 1);
  }
  __syncthreads();
  if (!last) return;
  v = 0;
  for (unsigned int k = threadIdx.x; k < gridDim.x; k += blockDim.x) v += partial[k];
  v = block_sum(s, v);
  if (threadIdx.x == 0) *out = v;
}
