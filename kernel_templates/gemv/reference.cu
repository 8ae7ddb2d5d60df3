// Matrix times vector as its definition says it, in double precision. One thread computes one row.
// evo:launch gemv_reference(A, x, y, M, N) grid(ceil_div(M, 64)) block(64)

__global__ void gemv_reference(const float* A, const float* x, double* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* a = A + (long long)row * columns;
  double sum = 0;
  for (int c = 0; c < columns; ++c) sum += double(a[c]) * double(x[c]);
  y[row] = sum;
}
