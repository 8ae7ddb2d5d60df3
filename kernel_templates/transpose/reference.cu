// The transpose as its definition says it. One thread moves one element.
// evo:launch transpose_reference(X, Y, ROWS, COLS) grid(ROWS, ceil_div(COLS, 64)) block(64)

__global__ void transpose_reference(const float* X, double* Y, int rows, int columns) {
  const int column = blockIdx.y * blockDim.x + threadIdx.x;
  const int row = blockIdx.x;
  if (column < columns) Y[(long long)column * rows + row] = X[(long long)row * columns + column];
}
