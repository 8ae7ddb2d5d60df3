// The logarithm of the softmax as its definition says it, in double precision. One thread computes one row.
// evo:launch log_softmax_reference(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void log_softmax_reference(const float* X, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  double* y = Y + (long long)row * columns;
  double largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmax(largest, double(x[c]));
  double sum = 0;
  for (int c = 0; c < columns; ++c) sum += exp(double(x[c]) - largest);
  for (int c = 0; c < columns; ++c) y[c] = double(x[c]) - largest - log(sum);
}
