// Column-major matrices with leading dimensions and a macro for indices, alpha and beta.
// buffers: A f32 in [K, M], B f32 in [N, K], C f32 inout [N, M]
// sizes: M=33 N=21 K=40; M=70 N=9 K=3
#define IDX2C(i, j, ld) (((j) * (ld)) + (i))

// evo:launch simple_sgemm(M, N, K, f32(1.5), A, M, B, K, f32(0.5), C, M) grid(ceil_div(M, 32), ceil_div(N, 8)) block(32, 8)
__global__ void simple_sgemm(int m, int n, int k, float alpha, const float* A, int lda, const float* B, int ldb, float beta,
                             float* C, int ldc) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;

  float prod = 0.0f;
  for (int p = 0; p < k; ++p) prod += A[IDX2C(i, p, lda)] * B[IDX2C(p, j, ldb)];
  C[IDX2C(i, j, ldc)] = alpha * prod + beta * C[IDX2C(i, j, ldc)];
}
