// buffers: X f32 in [M, N], Y f32 out [M, N]
// sizes: M=1 N=1; M=7 N=300; M=3 N=1025
// evo:launch l2_normalise(X, Y, M, N) grid(min(M, 2)) block(64)

// A block has several rows, one after the other.
__global__ void l2_normalise(const float *x, float *y, int rows, int n) {
  __shared__ float squares[64];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float own = 0.0f;
    for (int i = threadIdx.x; i < n; i += 64) own += x[row * n + i] * x[row * n + i];
    squares[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x < 32) squares[threadIdx.x] += squares[threadIdx.x + 32];
    __syncthreads();
    float all = 0.0f;
    for (int lane = 0; lane < 32; ++lane) all += squares[lane];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) y[row * n + i] = x[row * n + i] * rsqrtf(all + 1e-6f);
  }
}
