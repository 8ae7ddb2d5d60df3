// Honest: pragmas of CUDA, and attributes of functions and variables that every compiler of CUDA knows.
// evo:launch with_unroll(x, y, N) grid(ceil_div(N, 512)) block(128)
__device__ __forceinline__ float Sum(float a, float b) { return a + b; }

__global__ void __launch_bounds__(128) with_unroll(const float* __restrict__ x, float* __restrict__ y, int n) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
    if (i < n) y[i] = Sum(x[i], x[n - 1 - i]);
  }
}
