// Tiles of 64 x 64 with 8 x 4 registers a thread, loads of four floats, and a residual.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 inout [M, N]
// sizes: M=64 N=128 K=16; M=128 N=64 K=32

// evo:launch gemm_panels<64, 64, 8>(M, N, K, f32(1.25), A, B, f32(-0.5), C) grid(N / 64, M / 64) block(128)
template <int MB, int NB, int KB>
__global__ void __launch_bounds__(128) gemm_panels(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                                                  float* C) {
  __shared__ float at[KB][MB];
  __shared__ float bt[KB][NB];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  A += blockIdx.y * MB * K;
  B += blockIdx.x * NB;
  C += blockIdx.y * MB * N + blockIdx.x * NB;
  float acc[8][4] = {{0.f}};
  for (int k0 = 0; k0 < K; k0 += KB) {
    const float4 va = reinterpret_cast<const float4*>(A + (tid / 2) * K)[tid % 2];
    at[(tid % 2) * 4 + 0][tid / 2] = va.x;
    at[(tid % 2) * 4 + 1][tid / 2] = va.y;
    at[(tid % 2) * 4 + 2][tid / 2] = va.z;
    at[(tid % 2) * 4 + 3][tid / 2] = va.w;
    *reinterpret_cast<float4*>(&bt[tid / 16][(tid % 16) * 4]) =
        *reinterpret_cast<const float4*>(B + (tid / 16) * N + (tid % 16) * 4);
    __syncthreads();
    A += KB;
    B += KB * N;
    for (int k = 0; k < KB; ++k) {
      float ra[8], rb[4];
      for (int i = 0; i < 8; ++i) ra[i] = at[k][ty * 8 + i];
      for (int j = 0; j < 4; ++j) rb[j] = bt[k][tx * 4 + j];
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) {
      const int at = (ty * 8 + i) * N + tx * 4 + j;
      C[at] = alpha * acc[i][j] + beta * C[at];
    }
}
