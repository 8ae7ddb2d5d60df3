// RMS norm as its definition says it, in double precision. One thread computes one row.
// evo:launch rms_norm_reference(X, gamma, Y, eps, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void rms_norm_reference(const float* X, const float* gamma, double* Y, float eps, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * columns;
  double* y = Y + (long long)row * columns;
  double squares = 0;
  for (int c = 0; c < columns; ++c) squares += double(x[c]) * double(x[c]);
  const double rms = sqrt(squares / columns + double(eps));
  for (int c = 0; c < columns; ++c) y[c] = double(x[c]) / rms * double(gamma[c]);
}
