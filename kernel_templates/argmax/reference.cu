// The largest element of each row, then the first place that has it. One thread computes one row.
// evo:launch argmax_reference(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void argmax_reference(const float* X, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  double largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmax(largest, double(x[c]));
  int first = 0;
  while (first < columns - 1 && double(x[first]) != largest) ++first;
  Y[row] = first;
}
