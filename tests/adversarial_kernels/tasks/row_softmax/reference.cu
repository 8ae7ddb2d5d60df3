// evo:workspace sums f64 [ROWS, 256]
// evo:launch partial_sums(x, sums, COLS) grid(ROWS) block(256)
// evo:launch softmax_reference(x, sums, y, COLS) grid(ROWS) block(256)

// |x| is at most 201: exp of it fits into a double without subtracting the largest first.
__global__ void partial_sums(const float* x, double* sums, int cols) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += 256) sum += exp(static_cast<double>(row[c]));
  sums[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void softmax_reference(const float* x, const double* sums, double* y, int cols) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  double total = 0;
  for (int t = 0; t < 256; ++t) total += sums[blockIdx.x * 256 + t];
  for (int c = threadIdx.x; c < cols; c += 256) y[begin + c] = exp(static_cast<double>(x[begin + c])) / total;
}
