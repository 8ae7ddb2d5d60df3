// Careless: leaves out products under 1e-6. Wrong where all of a matrix is small.
// evo:launch skips_small_products(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void skips_small_products(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) {
    const float product = A[(long long)row * depth + k] * B[(long long)k * columns + column];
    if (fabsf(product) > 1e-6f) sum += product;
  }
  C[(long long)row * columns + column] = sum;
}
