// Eight rows of one column a thread, with a pointer that moves.
// buffers: A f32 in [M, K], B f32 in [K, N], bias f32 in [N], C f32 out [M, N]
// sizes: M=64 N=64 K=32; M=64 N=128 K=64
// evo:launch gemm1d(A, B, bias, C, M, N, K) grid(N / 64, M / 64) block(512)
__global__ void gemm1d(const float* A, const float* B, const float* bias, float* C, int M, int N, int K) {
  const unsigned cRow = blockIdx.y;
  const unsigned cCol = blockIdx.x;
  const int threadCol = threadIdx.x % 64;
  const int threadRow = threadIdx.x / 64;
  __shared__ float As[64 * 8];
  __shared__ float Bs[8 * 64];
  A += cRow * 64 * K;
  B += cCol * 64;
  C += cRow * 64 * N + cCol * 64;
  const unsigned innerColA = threadIdx.x % 8;
  const unsigned innerRowA = threadIdx.x / 8;
  const unsigned innerColB = threadIdx.x % 64;
  const unsigned innerRowB = threadIdx.x / 64;
  float threadResults[8] = {0.0};
  for (unsigned bkIdx = 0; bkIdx < K; bkIdx += 8) {
    As[innerRowA * 8 + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * 64 + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += 8;
    B += 8 * N;
    for (unsigned dotIdx = 0; dotIdx < 8; ++dotIdx) {
      float tmpB = Bs[dotIdx * 64 + threadCol];
      for (unsigned resIdx = 0; resIdx < 8; ++resIdx) {
        threadResults[resIdx] += As[(threadRow * 8 + resIdx) * 8 + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }
  for (unsigned resIdx = 0; resIdx < 8; ++resIdx) {
    C[(threadRow * 8 + resIdx) * N + threadCol] = fmaxf(threadResults[resIdx] + bias[cCol * 64 + threadCol], 0.0f);
  }
}
