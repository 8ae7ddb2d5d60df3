// buffers: X i32<1000 in [N], Y i32 out [1]
// sizes: N=1; N=700; N=9001
// evo:memset Y 0
// evo:launch reduce3(X, Y, N) grid(ceil_div(N, 512)) block(256)

__global__ void reduce3(const int *idata, int *odata, unsigned int n) {
  __shared__ int sdata[256];
  const unsigned int tid = threadIdx.x;
  const unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;

  int mySum = 0;
  if (i < n) mySum += idata[i];
  if (i + blockDim.x < n) mySum += idata[i + blockDim.x];

  sdata[tid] = mySum;
  __syncthreads();

  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] = mySum = mySum + sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) atomicAdd(&odata[0], mySum);
}
