// Careless: keeps the row in 16 bits. Wrong for matrices of more than 65,536 rows.
// evo:launch short_row(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void short_row(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const unsigned short row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += A[(long long)row * depth + k] * B[(long long)k * columns + column];
  C[(long long)row * columns + column] = sum;
}
