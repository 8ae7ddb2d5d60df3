// evo:launch dp4a_gemm(A, B, C, M, N, W) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void dp4a_gemm(const int* __restrict__ A, const int* __restrict__ B, int* __restrict__ C, int M, int N, int K4) {
  int col = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 8 + threadIdx.y;
  if (row < M && col < N) {
    int acc = 0;
    for (int k = 0; k < K4; k++) {
      int a4 = A[row * K4 + k];
      int b4 = __ldg(&B[col * K4 + k]);
      acc = __dp4a(a4, b4, acc);
    }
    C[row * N + col] = acc > 0 ? acc : 0;
  }
}
