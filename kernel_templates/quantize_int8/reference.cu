// The definition in double precision: the largest magnitude of a row becomes 127. One thread computes one row.
// evo:launch quantize_int8_reference(X, Q, S, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
#include <cuda_fp16.h>

__global__ void quantize_int8_reference(const half* X, double* Q, double* S, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const half* x = X + (long long)row * columns;
  double* q = Q + (long long)row * columns;
  double largest = 0;
  for (int c = 0; c < columns; ++c) largest = fmax(largest, fabs(double(__half2float(x[c]))));
  S[row] = largest / 127;
  for (int c = 0; c < columns; ++c) q[c] = largest > 0 ? rint(double(__half2float(x[c])) / largest * 127) : 0;
}
