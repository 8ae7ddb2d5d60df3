// Halves, four filters a block, a patch of one channel at a time in shared memory as floats; the compiler is told of blocks.
// buffers: in f16 in [B, C, H, W], f f16 in [K, C, 3, 3], res f16 out [B, K, H - 2, W - 2]
// sizes: B=2 C=3 H=9 W=12 K=5; B=1 C=2 H=17 W=33 K=4
#include <cuda_fp16.h>
#define TX 8
#define TY 4
#define KPB 4
// evo:launch conv3x3(in, f, res, C, H, W, K) grid(ceil_div(W - 2, 8), ceil_div(H - 2, 4), B * ceil_div(K, 4)) block(8, 4)
__global__ void __launch_bounds__(TX * TY) conv3x3(const half* input, const half* filter, half* output, int C, int H, int W, int K) {
  __shared__ float patch[TY + 2][TX + 2];
  __shared__ float filt[KPB][9];
  const int OH = H - 2, OW = W - 2, groups = (K + KPB - 1) / KPB;
  const int n = blockIdx.z / groups, k0 = (blockIdx.z % groups) * KPB;
  const int ox0 = blockIdx.x * TX, oy0 = blockIdx.y * TY, tid = threadIdx.y * TX + threadIdx.x;
  float acc[KPB];
  for (int k = 0; k < KPB; ++k) acc[k] = 0.f;
  for (int c = 0; c < C; ++c) {
    const half* in_c = input + (size_t)(n * C + c) * H * W;
    for (int i = tid; i < (TY + 2) * (TX + 2); i += TX * TY) {
      int py = i / (TX + 2), px = i % (TX + 2), gy = oy0 + py, gx = ox0 + px;
      patch[py][px] = gy < H && gx < W ? __half2float(in_c[gy * W + gx]) : 0.f;
    }
    for (int i = tid; i < KPB * 9; i += TX * TY) {
      int k = k0 + i / 9;
      filt[i / 9][i % 9] = k < K ? __half2float(filter[((size_t)k * C + c) * 9 + i % 9]) : 0.f;
    }
    __syncthreads();
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) {
        float v = patch[threadIdx.y + r][threadIdx.x + s];
        for (int k = 0; k < KPB; ++k) acc[k] += v * filt[k][r * 3 + s];
      }
    __syncthreads();
  }
  const int ox = ox0 + threadIdx.x, oy = oy0 + threadIdx.y;
  if (ox < OW && oy < OH)
    for (int k = 0; k < KPB; ++k)
      if (k0 + k < K) output[((size_t)(n * K + k0 + k) * OH + oy) * OW + ox] = __float2half_rn(acc[k]);
}
