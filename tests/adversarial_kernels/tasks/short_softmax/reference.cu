// evo:launch softmax_reference(x, y, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)
__global__ void softmax_reference(const float* x, double* y, int rows, int cols) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= rows) return;
  const size_t begin = static_cast<size_t>(r) * cols;
  double largest = x[begin];
  for (int c = 1; c < cols; ++c) largest = fmax(largest, static_cast<double>(x[begin + c]));
  double sum = 0;
  for (int c = 0; c < cols; ++c) sum += exp(x[begin + c] - largest);
  for (int c = 0; c < cols; ++c) y[begin + c] = exp(x[begin + c] - largest) / sum;
}
