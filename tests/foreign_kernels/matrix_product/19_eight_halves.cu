// Eight halves a load as float4, tiles in shared memory, two by two results a thread, launch bounds. Whole tiles only.
// buffers: A f16 in [M, K], B f16 in [N, K], C f32 out [M, N]
// sizes: M=64 N=32 K=32; M=32 N=64 K=64; M=32 N=32 K=96
#include <cuda_fp16.h>

// evo:launch hgemm_wide(A, B, C, M, N, K) grid(N / 32, M / 32) block(256)
__global__ void __launch_bounds__(256) hgemm_wide(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C,
                                                  int M, int N, int K) {
  __shared__ __align__(16) half As[32][32];
  __shared__ __align__(16) half Bs[32][32];
  const int t = threadIdx.x % 128, line = t / 4, part = t % 4 * 8;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float acc[2][2] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    if (threadIdx.x < 128)
      *reinterpret_cast<float4*>(&As[line][part]) = *reinterpret_cast<const float4*>(&A[(blockIdx.y * 32 + line) * K + k0 + part]);
    else
      *reinterpret_cast<float4*>(&Bs[line][part]) = *reinterpret_cast<const float4*>(&B[(blockIdx.x * 32 + line) * K + k0 + part]);
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) acc[i][j] += __half2float(As[ty * 2 + i][k]) * __half2float(Bs[tx * 2 + j][k]);
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) C[(blockIdx.y * 32 + ty * 2 + i) * N + blockIdx.x * 32 + tx * 2 + j] = acc[i][j];
}
