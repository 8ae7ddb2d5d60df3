// Matrix product in double precision. K is cut into parts of 16,384: one thread would take long for half a million products.
// evo:workspace parts f64 [ceil_div(K, 16384), M, N]
// evo:launch gemm_large_k_reference_parts(A, B, parts, M, N, K) \
//   grid(ceil_div(N, 32), ceil_div(M, 8), ceil_div(K, 16384)) block(32, 8)
// evo:launch gemm_large_k_reference(parts, C, M, N, ceil_div(K, 16384)) grid(ceil_div(N, 32), ceil_div(M, 8)) block(32, 8)

__global__ void gemm_large_k_reference_parts(const float* A, const float* B, double* parts, int rows, int columns, int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  double sum = 0;
  const int first = blockIdx.z * 16384;
  for (int k = first; k < depth && k < first + 16384; ++k) {
    sum += double(A[(long long)row * depth + k]) * double(B[(long long)k * columns + column]);
  }
  parts[((long long)blockIdx.z * rows + row) * columns + column] = sum;
}

__global__ void gemm_large_k_reference(const double* parts, double* C, int rows, int columns, int count) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  double sum = 0;
  for (int part = 0; part < count; ++part) sum += parts[((long long)part * rows + row) * columns + column];
  C[(long long)row * columns + column] = sum;
}
