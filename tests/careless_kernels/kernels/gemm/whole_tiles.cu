// Careless: computes whole tiles of 8 x 32 only. Wrong where a size is no multiple of the tile's.
// evo:launch whole_tiles(A, B, C, M, N, K) grid(max(N / 32, 1), max(M / 8, 1)) block(32, 8)
__global__ void whole_tiles(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += A[(long long)row * depth + k] * B[(long long)k * columns + column];
  C[(long long)row * columns + column] = sum;
}
