// buffers: A f32 in [N, P], B f32 in [N, Q], Y f32 out [N, P + Q]
// sizes: N=1 P=1 Q=1; N=13 P=12 Q=5; N=40 P=33 Q=64
// evo:launch concat_cols(A, B, Y, N, P, Q) grid(ceil_div(P + Q, 32), ceil_div(N, 8)) block(32, 8)

__global__ void concat_cols(const float* a, const float* b, float* y, int n, int p, int q) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int width = p + q;
  if (row < n && col < width) {
    y[row * width + col] = col < p ? a[row * p + col] : b[row * q + (col - p)];
  }
}
