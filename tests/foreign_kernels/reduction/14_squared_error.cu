// buffers: A f32 in [N], B f32 in [N], Y f32 out [1]
// sizes: N=1; N=1000; N=9001
// evo:memset Y 0
// evo:launch mse_kernel(A, B, Y, N) grid(ceil_div(N, 256)) block(256)

__global__ void __launch_bounds__(256) mse_kernel(const float* pred, const float* target, float* loss, int n) {
  __shared__ float cache[8];
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  float err = 0.0f;
  if (idx < n) {
    float d = pred[idx] - target[idx];
    err = d * d;
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    err += __shfl_down_sync(0xFFFFFFFFu, err, offset);
  }
  if ((threadIdx.x & 31) == 0) cache[threadIdx.x >> 5] = err;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < 8; w++) sum += cache[w];
    atomicAdd(loss, sum / n);
  }
}
