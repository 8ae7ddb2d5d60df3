// A matrix by columns times a vector, with indices that begin at one.
// buffers: A f32 in [N, M], X f32 in [N], Y f32 inout [M]
// sizes: M=70 N=40; M=64 N=5; M=3 N=130
#define A_(i, j) a[((j) - 1) * lda + ((i) - 1)]
#define X_(i) x[(i) - 1]
#define Y_(i) y[(i) - 1]
// evo:launch gemv(M, N, f32(1.25), A, M, X, f32(-0.5), Y) grid(ceil_div(M, 64)) block(64)
__global__ void gemv(int m, int n, float alpha, const float *a, int lda, const float *x, float beta, float *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i > m) return;
  float sum = 0.0f;
  for (int j = 1; j <= n; j++) {
    sum = sum + A_(i, j) * X_(j);
  }
  Y_(i) = alpha * sum + beta * Y_(i);
}
