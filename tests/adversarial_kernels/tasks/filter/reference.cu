// evo:constant weights = w
// evo:launch reference(x, y, b, N) grid(ceil_div(N, 64)) block(64)
__constant__ float weights[5];
__global__ void reference(const float* x, double* y, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = b;
  for (int k = 0; k < 5; ++k) sum += double(weights[k]) * double(x[i + k]);
  y[i] = sum;
}
