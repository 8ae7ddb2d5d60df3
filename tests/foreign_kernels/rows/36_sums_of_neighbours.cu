// buffers: A f32 in [N, N], Y f32 inout [N]
// sizes: N=2; N=70
// evo:launch twice(A, Y, N) grid(ceil_div(N, 128)) block(128)

// The loop names another element of the buffer, too.
__global__ void twice(const float* a, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    for (int j = 0; j < n; ++j) {
      y[2 * i] += a[i * n + j];
      y[2 * i + 1] += y[2 * i] * a[i * n + j];
    }
  }
}
