// evo:launch rounded_softmax(x, y, COLS) grid(ROWS) block(32)
__global__ void rounded_softmax(const float* x, signed char* y, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  double sum = 0;
  for (int c = 0; c < cols; ++c) sum += exp(static_cast<double>(row[c]));
  for (int c = threadIdx.x; c < cols; c += 32) y[static_cast<size_t>(blockIdx.x) * cols + c] = static_cast<signed char>(rint(127 * exp(static_cast<double>(row[c])) / sum));
}
