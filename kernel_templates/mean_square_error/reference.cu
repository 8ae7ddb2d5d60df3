// The mean square error in double precision: threads add up 4,096 squares each, then one thread their sums.
// evo:workspace parts f64 [ceil_div(N, 4096)]
// evo:launch mean_square_error_reference_parts(X, Y, parts, N) grid(ceil_div(N, 4096 * 64)) block(64)
// evo:launch mean_square_error_reference(parts, E, ceil_div(N, 4096), N) grid(1) block(1)

__global__ void mean_square_error_reference_parts(const float* X, const float* Y, double* parts, int n) {
  const long long part = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long begin = part * 4096;
  if (begin >= n) return;
  double sum = 0;
  for (long long i = begin; i < begin + 4096 && i < n; ++i) {
    const double difference = double(X[i]) - double(Y[i]);
    sum += difference * difference;
  }
  parts[part] = sum;
}

__global__ void mean_square_error_reference(const double* parts, double* E, int count, int n) {
  double sum = 0;
  for (int part = 0; part < count; ++part) sum += parts[part];
  E[0] = sum / n;
}
