// Loads of four floats into tiles, A transposed on the way, four by four results a thread, stores of four. Whole tiles only.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=64 N=96 K=32; M=32 N=32 K=8; M=96 N=64 K=16
#define FETCH_FLOAT4(p) (reinterpret_cast<float4*>(&(p))[0])
const int BM = 32;
const int BN = 32;
const int BK = 8;
const int TM = 4;
const int TN = 4;

// evo:launch sgemm_vectorized(A, B, C, M, N, K) grid(N / 32, M / 32) block(64)
__global__ void sgemm_vectorized(float* A, float* B, float* C, int M, int N, int K) {
  __shared__ float As[BK * BM];
  __shared__ float Bs[BK * BN];

  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  const int innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const int innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);

  float results[TM * TN] = {0.0f};
  float regM[TM];
  float regN[TN];

  for (int bk = 0; bk < K; bk += BK) {
    float4 four = FETCH_FLOAT4(A[innerRowA * K + innerColA * 4]);
    As[(innerColA * 4 + 0) * BM + innerRowA] = four.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = four.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = four.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = four.w;
    FETCH_FLOAT4(Bs[innerRowB * BN + innerColB * 4]) = FETCH_FLOAT4(B[innerRowB * N + innerColB * 4]);
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int dot = 0; dot < BK; ++dot) {
      for (int i = 0; i < TM; ++i) regM[i] = As[dot * BM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dot * BN + threadCol * TN + i];
      for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) results[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m) {
    float4 out;
    out.x = results[m * TN + 0];
    out.y = results[m * TN + 1];
    out.z = results[m * TN + 2];
    out.w = results[m * TN + 3];
    FETCH_FLOAT4(C[(threadRow * TM + m) * N + threadCol * TN]) = out;
  }
}
