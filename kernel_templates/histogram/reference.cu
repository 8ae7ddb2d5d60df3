// How often each value occurs: one thread a value counts it in a part of 8,192 elements, then one adds up all parts.
// evo:workspace counts f64 [ceil_div(N, 8192), 256]
// evo:launch histogram_reference_parts(X, counts, N) grid(ceil_div(N, 8192)) block(256)
// evo:launch histogram_reference(counts, H, ceil_div(N, 8192)) grid(4) block(64)

__global__ void histogram_reference_parts(const int* X, double* counts, int n) {
  const int value = threadIdx.x;
  const long long begin = (long long)blockIdx.x * 8192;
  int count = 0;
  for (long long i = begin; i < begin + 8192 && i < n; ++i) count += X[i] == value ? 1 : 0;
  counts[(long long)blockIdx.x * 256 + value] = count;
}

__global__ void histogram_reference(const double* counts, double* H, int parts) {
  const int value = blockIdx.x * blockDim.x + threadIdx.x;
  double count = 0;
  for (int part = 0; part < parts; ++part) count += counts[(long long)part * 256 + value];
  H[value] = count;
}
