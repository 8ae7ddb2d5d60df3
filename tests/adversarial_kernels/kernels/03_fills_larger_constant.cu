// The variable has one weight more than the input.
// evo:constant weights = w
// evo:launch filtered(x, y, b, N) grid(ceil_div(N, 128)) block(128)
__constant__ float weights[6];

__global__ void filtered(const float* x, float* y, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = b;
  for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
  y[i] = sum;
}
