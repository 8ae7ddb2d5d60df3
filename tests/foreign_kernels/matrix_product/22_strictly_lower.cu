// Only what is strictly below the diagonal: no row 0 and no last column, which may not even be there to read.
// buffers: X f32 in [S, D], C f32 inout [D, D]
// sizes: S=40 D=33; S=16 D=64; S=3 D=5
// evo:launch below(X, C, S, D) grid(ceil_div(D, 16), ceil_div(D, 16)) block(16, 16)
__global__ void below(const float* x, float* c, int s, int d) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < d && j < d && j < i) {
    float sum = 0.0f;
    for (int k = 0; k < s; ++k) sum += x[k * d + i] * x[k * d + j];
    c[i * d + j] = sum;
  }
}
