// Cross entropy as its definition says it, in double precision. One thread computes one row.
// evo:launch cross_entropy_reference(X, targets, L, ROWS, CLASSES) grid(ceil_div(ROWS, 64)) block(64)

__global__ void cross_entropy_reference(const float* X, const int* targets, double* L, int rows, int classes) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = X + (long long)row * classes;
  double largest = x[0];
  for (int c = 1; c < classes; ++c) largest = fmax(largest, double(x[c]));
  double sum = 0;
  for (int c = 0; c < classes; ++c) sum += exp(double(x[c]) - largest);
  L[row] = log(sum) - (double(x[targets[row]]) - largest);
}
