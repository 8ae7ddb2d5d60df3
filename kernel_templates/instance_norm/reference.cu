// Instance norm as its definition says it, in double precision. One thread computes one plane.
// evo:launch instance_norm_reference(X, gamma, beta, Y, eps, N * C, C, H * W) grid(ceil_div(N * C, 32)) block(32)

__global__ void instance_norm_reference(const float* X, const float* gamma, const float* beta, double* Y, float eps, int planes,
                                        int channels, int pixels) {
  const int plane = blockIdx.x * blockDim.x + threadIdx.x;
  if (plane >= planes) return;
  const float* x = X + (long long)plane * pixels;
  double* y = Y + (long long)plane * pixels;
  double sum = 0;
  for (int i = 0; i < pixels; ++i) sum += double(x[i]);
  const double mean = sum / pixels;
  double squares = 0;
  for (int i = 0; i < pixels; ++i) squares += (double(x[i]) - mean) * (double(x[i]) - mean);
  const double deviation = sqrt(squares / pixels + double(eps));
  const double factor = gamma[plane % channels];
  const double term = beta[plane % channels];
  for (int i = 0; i < pixels; ++i) y[i] = (double(x[i]) - mean) / deviation * factor + term;
}
