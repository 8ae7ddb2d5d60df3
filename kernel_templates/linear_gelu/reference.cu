// A linear layer and GELU as their definitions say it, in double precision. One thread computes one element.
// evo:launch linear_gelu_reference(X, W, bias, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)

__global__ void linear_gelu_reference(const float* X, const float* W, const float* bias, double* Y, int rows, int columns,
                                      int depth) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  double sum = double(bias[column]);
  for (int k = 0; k < depth; ++k) sum += double(X[(long long)row * depth + k]) * double(W[(long long)column * depth + k]);
  Y[(long long)row * columns + column] = 0.5 * sum * erfc(-sum * sqrt(0.5));
}
