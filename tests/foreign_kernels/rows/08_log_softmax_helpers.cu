// buffers: X f32 in [R, C], Y f32 out [R, C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch log_softmax(X, Y, R, C) grid(ceil_div(R, 128)) block(128)

__device__ float rowMax(const float* row, int n) {
  float m = row[0];
  for (int i = 1; i < n; i++) m = max(m, row[i]);
  return m;
}

__device__ float rowSumExp(const float* row, int n, float m) {
  float s = 0;
  for (int i = 0; i < n; i++) s += exp(row[i] - m);
  return s;
}

__global__ void log_softmax(const float* x, float* y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    const float* row = &x[r * n];
    float m = rowMax(row, n);
    float lse = m + log(rowSumExp(row, n, m));
    for (int i = 0; i < n; i++) y[r * n + i] = row[i] - lse;
  }
}
