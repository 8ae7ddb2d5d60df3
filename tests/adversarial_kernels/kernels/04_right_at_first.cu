// Adversarial: counts its launches and leaves out work after the first few.
// evo:launch tires(x, y, N) grid(ceil_div(N, 128)) block(128)
__device__ unsigned threads_so_far;

__global__ void tires(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned launch = atomicAdd(&threads_so_far, 1u) / (gridDim.x * blockDim.x);
  if (i < n) y[i] = launch < 8 ? x[i] + x[n - 1 - i] : x[i];
}
