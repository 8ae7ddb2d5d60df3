// The transpose as its definition says it. One thread moves one element.
// evo:launch transpose_reference(X, Y, ROWS, COLS) grid(ceil_div(COLS, 64), ROWS) block(64)

__global__ void transpose_reference(const float* X, double* Y, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < columns) Y[(long long)column * rows + row] = X[(long long)row * columns + column];
}
