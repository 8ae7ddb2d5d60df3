// evo:launch honest(x, w, y, b, N) grid(ceil_div(N, 128)) block(128)
__global__ void honest(const float* x, const float* w, float* y, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = b;
  for (int k = 0; k < 5; ++k) sum += w[k] * x[i + k];
  y[i] = sum;
}
