// Honest: weights and offset are in constant memory, which evo fills from the task's arguments.
// evo:constant weights = w
// evo:constant offsets::offset = b
// evo:launch filtered(x, y, N) grid(ceil_div(N, 128)) block(128)
namespace offsets {
__constant__ float offset;
}
__constant__ float weights[5];
__device__ const float table[2] = {1, 2};

__global__ void filtered(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = offsets::offset * table[0];
  for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
  y[i] = sum;
}
