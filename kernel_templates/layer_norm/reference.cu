// Layer norm as its definition says it, in double precision. One thread computes one row.
// evo:launch layer_norm_reference(X, gamma, beta, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void layer_norm_reference(const float* X, const float* gamma, const float* beta, double* Y, float eps, int rows,
                                     int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  double* y = Y + (long long)row * columns;
  double sum = 0;
  for (int c = 0; c < columns; ++c) sum += double(x[c]);
  const double mean = sum / columns;
  double squares = 0;
  for (int c = 0; c < columns; ++c) squares += (double(x[c]) - mean) * (double(x[c]) - mean);
  const double deviation = sqrt(squares / columns + double(eps));
  for (int c = 0; c < columns; ++c) y[c] = (double(x[c]) - mean) / deviation * double(gamma[c]) + double(beta[c]);
}
