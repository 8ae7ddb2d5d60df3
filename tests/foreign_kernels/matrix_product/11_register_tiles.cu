// Two by two outputs a thread from tiles in shared memory, alpha and beta.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 inout [M, N]
// sizes: M=64 N=96 K=32; M=33 N=21 K=40
#define BM 32
#define BN 32
#define BK 8
#define TM 2
#define TN 2

// evo:launch sgemm2d(M, N, K, f32(1.5), A, B, f32(0.5), C) grid(ceil_div(N, 32), ceil_div(M, 32)) block(16, 16)
__global__ void sgemm2d(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += 256) {
      int r = i / BK, c = i % BK;
      As[r][c] = (row0 + r < M && k0 + c < K) ? A[(row0 + r) * K + k0 + c] : 0.f;
    }
    for (int i = tid; i < BK * BN; i += 256) {
      int r = i / BN, c = i % BN;
      Bs[r][c] = (k0 + r < K && col0 + c < N) ? B[(k0 + r) * N + col0 + c] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i) a[i] = As[threadIdx.y * TM + i][k];
      for (int j = 0; j < TN; ++j) b[j] = Bs[k][threadIdx.x * TN + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      int r = row0 + threadIdx.y * TM + i, c = col0 + threadIdx.x * TN + j;
      if (r < M && c < N) C[r * N + c] = alpha * acc[i][j] + beta * C[r * N + c];
    }
}
