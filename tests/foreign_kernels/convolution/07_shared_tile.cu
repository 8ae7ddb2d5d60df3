// A tile of one channel with its halo in shared memory, filters read through the cache.
// buffers: X f16 in [N, C, H, W], F f16 in [K, C, 3, 3], Y f16 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=2 H=6 W=34
#include <cuda_fp16.h>
#define T 16

// evo:launch conv_tiled(X, F, Y, C, K, H, W) grid(ceil_div(W, 16), ceil_div(H, 16), N * K) block(16, 16)
__global__ void conv_tiled(const half* __restrict__ X, const half* __restrict__ F, half* __restrict__ Y, int C, int K, int H,
                           int W) {
  __shared__ float tile[T + 2][T + 2];
  const int k = blockIdx.z % K, n = blockIdx.z / K;
  const int col = blockIdx.x * T + threadIdx.x;
  const int row = blockIdx.y * T + threadIdx.y;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int y = threadIdx.y; y < T + 2; y += T) {
      for (int x = threadIdx.x; x < T + 2; x += T) {
        const int gy = blockIdx.y * T + y - 1;
        const int gx = blockIdx.x * T + x - 1;
        const bool inside = gy >= 0 && gy < H && gx >= 0 && gx < W;
        tile[y][x] = inside ? __half2float(X[((n * C + c) * H + gy) * W + gx]) : 0.0f;
      }
    }
    __syncthreads();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        sum += tile[threadIdx.y + i][threadIdx.x + j] * __half2float(__ldg(&F[((k * C + c) * 3 + i) * 3 + j]));
    __syncthreads();
  }
  if (row < H && col < W) Y[((n * K + k) * H + row) * W + col] = __float2half(sum);
}
