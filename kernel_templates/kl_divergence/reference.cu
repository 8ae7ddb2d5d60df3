// The divergence as its definition says it, in double precision. One thread computes one row.
// evo:launch kl_divergence_reference(P, log_Q, K, ROWS, COLS) grid(ceil_div(ROWS, 64)) block(64)

__global__ void kl_divergence_reference(const float* P, const float* log_Q, double* K, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    const double p = P[(long long)row * columns + c];
    if (p != 0) sum += p * (log(p) - double(log_Q[(long long)row * columns + c]));
  }
  K[row] = sum;
}
