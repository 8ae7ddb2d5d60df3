// Honest: adds the products from the last to the first, in four sums.
// evo:launch honest_reversed(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 4)) block(32, 4)
__global__ void honest_reversed(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 4 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float* a = A + (long long)row * depth;
  float sums[4] = {};
  for (int k = depth - 1; k >= 0; --k) sums[k % 4] = fmaf(a[k], B[(long long)k * columns + column], sums[k % 4]);
  C[(long long)row * columns + column] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
