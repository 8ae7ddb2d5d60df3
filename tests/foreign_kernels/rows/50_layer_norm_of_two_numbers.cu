// A thread of a row stores what it needs again, and gamma and beta are numbers.
// buffers: X f32 in [M, N], Y f32 out [M, N], MU f32 out [M], V f32 out [M]
// sizes: M=1 N=2; M=70 N=33; M=5 N=300
// evo:launch normed(X, Y, MU, V, f32(1.5), f32(0.25), M, N) grid(ceil_div(M, 64)) block(64)

__global__ void normed(const float* x, float* y, float* mu, float* variance, float gamma, float beta, int rows, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += x[row * n + j];
    mu[row] = sum / (float)n;
    float squares = 0.0f;
    for (int j = 0; j < n; ++j) {
      const float d = x[row * n + j] - mu[row];
      squares += d * d;
    }
    variance[row] = squares / (float)n;
    for (int j = 0; j < n; ++j)
      y[row * n + j] = gamma * ((x[row * n + j] - mu[row]) / sqrtf(variance[row] + 1e-5f)) + beta;
  }
}
