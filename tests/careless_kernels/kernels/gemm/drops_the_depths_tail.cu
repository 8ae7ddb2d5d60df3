// Careless: takes eight steps of the depth at a time and forgets those that remain. Wrong where the depth is no multiple of 8.
// evo:launch drops_the_depths_tail(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void drops_the_depths_tail(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int first = 0; first + 8 <= depth; first += 8) {
#pragma unroll
    for (int k = first; k < first + 8; ++k) sum += A[(long long)row * depth + k] * B[(long long)k * columns + column];
  }
  C[(long long)row * columns + column] = sum;
}
