// Counts its launches in a weight, which evo fills before each of them.
// evo:constant weights = w
// evo:launch filtered(x, y, b, N) grid(ceil_div(N, 128)) block(128)
__constant__ float weights[5];

__global__ void filtered(const float* x, float* y, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = b;
  for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
  y[i] = sum;
  if (i == n - 1) const_cast<float*>(weights)[4] += 1;
}
