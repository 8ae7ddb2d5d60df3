// Honest: has two ways to the same answer and chooses by the block, never by earlier launches.
// evo:launch two_ways(x, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void two_ways(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool backwards = blockIdx.x % 2 == 1;
  const int j = backwards ? (blockIdx.x + 1) * blockDim.x - 1 - threadIdx.x : i;
  if (j < n) y[j] = x[j] + x[n - 1 - j];
}
