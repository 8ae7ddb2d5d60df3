// Cumulative sums in double precision. One thread computes one row.
// evo:launch cumulative_sum_reference(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void cumulative_sum_reference(const float* X, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    sum += double(X[(long long)row * columns + c]);
    Y[(long long)row * columns + c] = sum;
  }
}
