// Careless: one Newton step from an estimate by the bits of the sum, where it takes three. Wrong for every row by up to 2e-3.
// evo:launch coarse_reciprocal(X, Y, ROWS, COLS) grid(ceil_div(ROWS, 128)) block(128)
__device__ float Reciprocal(float x) {
  const float estimate = __int_as_float(0x7ef311c7 - __float_as_int(x));
  return estimate * (2.0f - x * estimate);
}

__global__ void coarse_reciprocal(const float* X, float* Y, int rows, int columns) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + row * columns;
  float* y = Y + row * columns;
  float largest = x[0];
  for (int c = 1; c < columns; ++c) largest = fmaxf(largest, x[c]);
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - largest);
  const float inverse = Reciprocal(sum);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - largest) * inverse;
}
