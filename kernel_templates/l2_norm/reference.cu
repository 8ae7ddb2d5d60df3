// Euclidean norms of rows in double precision. One thread computes one row.
// evo:launch l2_norm_reference(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void l2_norm_reference(const float* X, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  double squares = 0;
  for (int c = 0; c < columns; ++c) squares += double(x[c]) * double(x[c]);
  Y[row] = sqrt(squares);
}
