// Bytes to int by char4, rows along k in both.
// buffers: A i8<256 in [M, K], B i8<256 in [N, K], C i32 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=4
// evo:launch igemm_nt(A, B, C, M, N, K / 4) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void igemm_nt(const char4* __restrict__ A, const char4* __restrict__ B, int* __restrict__ C, int M, int N, int K4) {
  const int n = blockIdx.x * 16 + threadIdx.x;
  const int m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  int acc = 0;
  for (int k = 0; k < K4; ++k) {
    const char4 a = A[m * K4 + k];
    const char4 b = B[n * K4 + k];
    acc += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  C[m * N + n] = acc;
}
