// Prefix sums in double precision: sums of parts of 4,096 elements, one thread that adds these up, then one thread a part.
// evo:workspace parts f64 [ceil_div(N, 4096)]
// evo:launch prefix_sum_reference_parts(X, parts, N) grid(ceil_div(N, 4096 * 64)) block(64)
// evo:launch prefix_sum_reference_before(parts, ceil_div(N, 4096)) grid(1) block(1)
// evo:launch prefix_sum_reference(X, parts, Y, N) grid(ceil_div(N, 4096 * 64)) block(64)

__global__ void prefix_sum_reference_parts(const float* X, double* parts, int n) {
  const long long part = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long begin = part * 4096;
  if (begin >= n) return;
  double sum = 0;
  for (long long i = begin; i < begin + 4096 && i < n; ++i) sum += double(X[i]);
  parts[part] = sum;
}

__global__ void prefix_sum_reference_before(double* parts, int count) {
  double before = 0;
  for (int part = 0; part < count; ++part) {
    const double sum = parts[part];
    parts[part] = before;
    before += sum;
  }
}

__global__ void prefix_sum_reference(const float* X, const double* parts, double* Y, int n) {
  const long long part = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long begin = part * 4096;
  if (begin >= n) return;
  double sum = parts[part];
  for (long long i = begin; i < begin + 4096 && i < n; ++i) {
    sum += double(X[i]);
    Y[i] = sum;
  }
}
