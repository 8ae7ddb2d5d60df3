// buffers: X f32 in [N], Y f32 out [1]
// sizes: N=1; N=700; N=20011
// evo:workspace own f32 [ceil_div(N, 256) * 256]
// evo:workspace left f32 [ceil_div(N, 256)]
// evo:launch copy_in(X, own, N) grid(ceil_div(N, 256)) block(256)
// evo:launch reduce_in_place(own, left) grid(ceil_div(N, 256)) block(256)
// evo:launch add_up(left, Y, ceil_div(N, 256)) grid(1) block(32)

__global__ void copy_in(const float *x, float *own, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  own[i] = i < n ? x[i] : 0.0f;
}

// A tree in global memory, by a pointer to the block's part.
__global__ void reduce_in_place(float *g_idata, float *g_odata) {
  unsigned int tid = threadIdx.x;
  float *idata = g_idata + blockIdx.x * blockDim.x;
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    int index = 2 * stride * tid;
    if (index < blockDim.x) idata[index] += idata[index + stride];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

__global__ void add_up(const float *left, float *y, int count) {
  float total = 0.0f;
  for (int i = threadIdx.x; i < count; i += 32) total += left[i];
  for (int d = 16; d > 0; d >>= 1) total += __shfl_down_sync(0xffffffff, total, d);
  if (threadIdx.x == 0) y[0] = total;
}
