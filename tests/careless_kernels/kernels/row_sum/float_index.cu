// Careless: computes the index in fp32, which cannot tell neighbours apart past 2^24. Wrong for larger matrices.
// evo:launch float_index(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__global__ void float_index(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float begin = (float)row * (float)columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += X[min((int)(begin + (float)c), rows * columns - 1)];
  Y[row] = sum;
}
