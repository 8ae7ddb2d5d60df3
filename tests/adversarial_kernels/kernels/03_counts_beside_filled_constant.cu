// Keeps the number of its launches beside the constant that evo fills, and is wrong in the fourth.
// evo:constant weights = w
// evo:launch filtered(x, y, b, N) grid(ceil_div(N, 128)) block(128)
__constant__ float weights[5];
__device__ int launches;

__global__ void filtered(const float* x, float* y, float b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = b;
  for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
  y[i] = sum;
  if (i == n - 1) launches += 1;
}
