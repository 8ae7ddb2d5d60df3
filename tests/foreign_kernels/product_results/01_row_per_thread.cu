// A thread computes a whole row of the result.
// buffers: x f32 in [n, n], y f32 in [n, n], z f32 out [n, n]
// sizes: n=37; n=64

// evo:launch rows_times(x, y, z, n) grid(ceil_div(n, 32)) block(32)
__global__ void rows_times(float* x, float* y, float* z, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  for (int j = 0; j < n; ++j) {
    float total = 0.0f;
    for (int l = 0; l < n; ++l) total += x[i * n + l] * y[l * n + j];
    z[i * n + j] = total;
  }
}
