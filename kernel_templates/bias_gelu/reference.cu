// A bias and GELU in its tanh form, as its definition says it, in double precision. One thread computes one row.
// evo:launch bias_gelu_reference(X, bias, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void bias_gelu_reference(const float* X, const float* bias, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < columns; ++c) {
    const double x = double(X[(long long)row * columns + c]) + double(bias[c]);
    const double u = sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    Y[(long long)row * columns + c] = x / 2 * (1 + tanh(u));
  }
}
