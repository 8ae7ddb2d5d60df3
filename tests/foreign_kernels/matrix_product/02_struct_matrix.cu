// Matrices passed as structs by value, as in lecture notes.
// buffers: A f32 in [M, K], B f32 in [K, N], C f32 out [M, N]
// sizes: M=33 N=21 K=40; M=5 N=64 K=7
// evo:launch multiply({M, K, A}, {K, N, B}, {M, N, C}) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
struct DenseMatrix {
  int rows;
  int cols;
  float* data;
};

__global__ void multiply(DenseMatrix a, DenseMatrix b, DenseMatrix c) {
  const int i = threadIdx.y + blockIdx.y * blockDim.y;
  const int j = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= c.rows || j >= c.cols) return;
  float sum = 0.0f;
  for (int e = 0; e < a.cols; e++) {
    sum += a.data[i * a.cols + e] * b.data[e * b.cols + j];
  }
  c.data[i * c.cols + j] = sum;
}
