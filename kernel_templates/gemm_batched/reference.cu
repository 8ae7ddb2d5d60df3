// Matrix products of a batch as their definition says it, in double precision. One thread computes one element.
// evo:launch gemm_batched_reference(A, B, C, M, N, K) grid(ceil_div(N, 32), ceil_div(M, 8), BATCH) block(32, 8)

__global__ void gemm_batched_reference(const float* A, const float* B, double* C, int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  const float* a = A + ((long long)blockIdx.z * rows + row) * depth;
  const float* b = B + (long long)blockIdx.z * depth * columns + column;
  double sum = 0;
  for (int k = 0; k < depth; ++k) sum += double(a[k]) * double(b[(long long)k * columns]);
  C[((long long)blockIdx.z * rows + row) * columns + column] = sum;
}
