// buffers: X f32 in [M, N], Y f32 out [M, N]
// sizes: M=1 N=1; M=7 N=300; M=40 N=129
// evo:workspace top f32 [M]
// evo:workspace total f32 [M]
// evo:launch row_max(X, top, M, N) grid(M) block(64)
// evo:launch shifted_exp(X, top, Y, M, N) grid(ceil_div(M * N, 128)) block(128)
// evo:launch row_sum(Y, total, M, N) grid(ceil_div(M, 32)) block(32)
// evo:launch divide(Y, total, M, N) grid(ceil_div(M * N, 128)) block(128)

__global__ void row_max(const float* x, float* top, int m, int n) {
  __shared__ float best[64];
  float v = -INFINITY;
  for (int j = threadIdx.x; j < n; j += 64) v = fmaxf(v, x[blockIdx.x * n + j]);
  best[threadIdx.x] = v;
  for (int s = 32; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
  }
  if (threadIdx.x == 0) top[blockIdx.x] = best[0];
}

__global__ void shifted_exp(const float* x, const float* top, float* y, int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) y[i] = expf(x[i] - top[i / n]);
}

__global__ void row_sum(const float* y, float* total, int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += y[i * n + j];
  total[i] = sum;
}

__global__ void divide(float* y, const float* total, int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m * n) y[i] /= total[i / n];
}
