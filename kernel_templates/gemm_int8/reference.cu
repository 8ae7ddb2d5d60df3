// Matrix product of 8-bit integers as its definition says it; double precision holds the sums. One thread computes one element.
// evo:launch gemm_int8_reference(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)

__global__ void gemm_int8_reference(const signed char* A, const signed char* B, double* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  long long sum = 0;
  for (int k = 0; k < depth; ++k) sum += int(A[(long long)row * depth + k]) * int(B[(long long)column * depth + k]);
  C[(long long)row * columns + column] = double(sum);
}
