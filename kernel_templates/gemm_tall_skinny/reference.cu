// Product of a tall matrix and a small one as its definition says it, in double precision. One thread computes one element.
// evo:launch gemm_tall_skinny_reference(A, B, C, M, N, K) grid(ceil_div(M, 8), ceil_div(N, 32)) block(32, 8)

__global__ void gemm_tall_skinny_reference(const float* A, const float* B, double* C, int rows, int columns, int depth) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += double(A[(long long)row * depth + k]) * double(B[(long long)k * columns + column]);
  C[(long long)row * columns + column] = sum;
}
