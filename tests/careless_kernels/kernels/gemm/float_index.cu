// Careless: computes the index into A in fp32, which cannot tell neighbours apart past 2^24. Wrong for larger matrices.
// evo:launch float_index(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)
__global__ void float_index(const float* A, const float* B, float* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 8 + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float begin = (float)row * (float)depth;
  const long long last = (long long)rows * depth - 1;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) {
    const long long at = min((long long)(begin + (float)k), last);
    sum += A[at] * B[(long long)k * columns + column];
  }
  C[(long long)row * columns + column] = sum;
}
