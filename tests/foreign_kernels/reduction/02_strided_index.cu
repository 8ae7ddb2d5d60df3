// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=200; N=5003
// evo:memset Y 0
// evo:launch sumReduce(X, Y, N) grid(ceil_div(N, 128)) block(128)
#define BLOCK_SIZE 128

__global__ void sumReduce(const float* __restrict__ in, float* __restrict__ out, int size) {
  __shared__ float partial[BLOCK_SIZE];
  int t = threadIdx.x;
  int gid = blockIdx.x * blockDim.x + t;
  partial[t] = 0.f;
  if (gid < size) partial[t] = in[gid];
  __syncthreads();
  for (int stride = 1; stride < BLOCK_SIZE; stride <<= 1) {
    int index = 2 * stride * t;
    if (index < BLOCK_SIZE) partial[index] += partial[index + stride];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, partial[0]);
}
