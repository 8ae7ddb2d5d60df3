// buffers: X f32 in [H, W], Y f32 out [1]
// sizes: H=1 W=1; H=20 W=31
// evo:memset Y 0
// evo:launch moment(X, Y, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

// An element counts by its column, too.
__global__ void moment(const float* image, float* sum, int width, int height) {
  __shared__ float tile[256];
  const int x = blockIdx.x * 16 + threadIdx.x, t = threadIdx.y * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  tile[t] = x < width && y < height ? x * image[y * width + x] : 0.0f;
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) tile[t] += tile[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(sum, tile[0]);
}
