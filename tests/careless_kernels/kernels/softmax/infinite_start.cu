// Careless: an online softmax whose lanes begin at minus infinity and subtract it. Wrong where a lane sees nothing but -inf, as under
// a mask of whole stretches: NaN.
// evo:launch infinite_start(X, Y, COLS) grid(ROWS) block(32)
__global__ void infinite_start(const float* X, float* Y, int columns) {
  const float* x = X + (long long)blockIdx.x * columns;
  float* y = Y + (long long)blockIdx.x * columns;
  const int share = (columns + 31) / 32;
  const int first = min((int)threadIdx.x * share, columns - 1);
  float largest = __int_as_float(0xff800000);
  float sum = 0.0f;
  for (int c = first; c < min(first + share, columns); ++c) {
    if ((int)threadIdx.x * share >= columns) break;
    const float next = fmaxf(largest, x[c]);
    sum = sum * expf(largest - next) + expf(x[c] - next);
    largest = next;
  }
  float most = largest;
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, offset));
  sum *= expf(largest - most);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int c = threadIdx.x; c < columns; c += 32) y[c] = expf(x[c] - most) / sum;
}
