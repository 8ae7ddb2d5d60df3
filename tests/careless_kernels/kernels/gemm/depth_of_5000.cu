// Careless: leaves out the terms beyond a depth of 5,000. Wrong for deeper products.
// evo:launch depth_of_5000(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void depth_of_5000(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < min(depth, 5000); ++k) sum += A[(long long)row * depth + k] * B[(long long)k * columns + column];
  C[(long long)row * columns + column] = sum;
}
