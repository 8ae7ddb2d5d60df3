// SwiGLU as its definition says it, in double precision. One thread computes one row.
// evo:launch swiglu_reference(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void swiglu_reference(const float* X, double* Y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* gates = X + (long long)row * columns * 2;
  const float* values = gates + columns;
  for (int c = 0; c < columns; ++c) {
    const double gate = gates[c];
    Y[(long long)row * columns + c] = gate / (1 + exp(-gate)) * double(values[c]);
  }
}
