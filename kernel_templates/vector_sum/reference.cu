// The sum of a vector in double precision: threads add up 4,096 elements each, then one thread their sums.
// evo:workspace parts f64 [ceil_div(N, 4096)]
// evo:launch vector_sum_reference_parts(X, parts, N) grid(ceil_div(N, 4096 * 64)) block(64)
// evo:launch vector_sum_reference(parts, Y, ceil_div(N, 4096)) grid(1) block(1)

__global__ void vector_sum_reference_parts(const float* X, double* parts, int n) {
  const long long part = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long begin = part * 4096;
  if (begin >= n) return;
  double sum = 0;
  for (long long i = begin; i < begin + 4096 && i < n; ++i) sum += double(X[i]);
  parts[part] = sum;
}

__global__ void vector_sum_reference(const double* parts, double* Y, int count) {
  double sum = 0;
  for (int part = 0; part < count; ++part) sum += parts[part];
  Y[0] = sum;
}
