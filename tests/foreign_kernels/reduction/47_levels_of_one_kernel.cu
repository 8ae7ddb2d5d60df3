// buffers: X i32<100 in [N], Y i32 out [1]
// sizes: N=1; N=700; N=20011
// evo:workspace a i32 [ceil_div(N, 256)]
// evo:workspace b i32 [ceil_div(ceil_div(N, 256), 256)]
// evo:launch reduce(X, a, N) grid(ceil_div(N, 256)) block(128)
// evo:launch reduce(a, b, ceil_div(N, 256)) grid(ceil_div(ceil_div(N, 256), 256)) block(128)
// evo:launch reduce(b, Y, ceil_div(ceil_div(N, 256), 256)) grid(1) block(128)

// Each launch adds up what the one before has left.
__device__ int sum_of_warp(int v) {
#pragma unroll
  for (int mask = warpSize / 2; mask > 0; mask /= 2) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  return v;
}

__global__ void reduce(const int* in, int* out, int n) {
  __shared__ int warps[4];
  int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x, v = 0;
  if (i < n) {
    v = in[i];
    if (i + blockDim.x < n) v += in[i + blockDim.x];
  }
  v = sum_of_warp(v);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  do {
    if (threadIdx.x != 0) break;
    v = 0;
    int w = 0;
    while (w < 4) v += warps[w++];
    out[blockIdx.x] = v;
  } while (false);
}
