// Honest: computes in double precision in a workspace of its own, as the reference does.
// evo:workspace wide f64 [N]
// evo:launch in_doubles(x, wide, N) grid(ceil_div(N, 128)) block(128)
// evo:launch to_floats(wide, y, N) grid(ceil_div(N, 128)) block(128)
__global__ void in_doubles(const float* x, double* wide, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) wide[i] = static_cast<double>(x[i]) + static_cast<double>(x[n - 1 - i]);
}

__global__ void to_floats(const double* wide, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = static_cast<float>(wide[i]);
}
