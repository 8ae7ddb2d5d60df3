// Sparse matrix times vector as its definition says it, in double precision. One thread computes one row.
// evo:launch spmv_csr_reference(offsets, columns, values, x, y, ROWS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void spmv_csr_reference(const int* offsets, const int* columns, const float* values, const float* x, double* y,
                                   int rows) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += double(values[i]) * double(x[columns[i]]);
  y[row] = sum;
}
