// evo:launch stem(X, F, Y, N, C, K, H, W) grid(ceil_div((W + 1) / 2, 32), (H + 1) / 2, N * K) block(32)
#include <cuda_fp16.h>
#define STRIDE 2
#define PADDING 3
#define SIZE 7

__global__ void stem(const half* X, const half* F, half* Y, int N, int C, int K, int H, int W) {
  const int out_h = (H + 2 * PADDING - SIZE) / STRIDE + 1;
  const int out_w = (W + 2 * PADDING - SIZE) / STRIDE + 1;
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  const int p = blockIdx.y;
  const int n = blockIdx.z / K;
  const int k = blockIdx.z - n * K;
  if (n < N && q < out_w && p < out_h) {
    float acc = 0.f;
    for (int c = 0; c < C; c++) {
      for (int r = 0; r < SIZE; r++) {
        for (int s = 0; s < SIZE; s++) {
          const int ih = p * STRIDE - PADDING + r;
          const int iw = q * STRIDE - PADDING + s;
          const bool inside = ih > -1 && ih < H && iw > -1 && iw < W;
          const half value = inside ? X[(((long)n * C + c) * H + ih) * W + iw] : __float2half(0.f);
          acc += __half2float(value) * __half2float(F[((k * C + c) * SIZE + r) * SIZE + s]);
        }
      }
    }
    Y[((n * K + k) * out_h + p) * out_w + q] = __float2half(acc);
  }
}
