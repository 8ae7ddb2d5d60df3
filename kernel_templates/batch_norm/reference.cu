// Batch norm of inference as its definition says it, in double precision. One thread computes one element.
// evo:launch batch_norm_reference(X, mean, variance, gamma, beta, Y, eps, N, C, H * W) \
//   grid(ceil_div(N * C * H * W, 128)) block(128)

__global__ void batch_norm_reference(const float* X, const float* mean, const float* variance, const float* gamma,
                                     const float* beta, double* Y, float eps, int images, int channels, int pixels) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)images * channels * pixels) return;
  const int c = element / pixels % channels;
  const double normalised = (double(X[element]) - double(mean[c])) / sqrt(double(variance[c]) + double(eps));
  Y[element] = normalised * double(gamma[c]) + double(beta[c]);
}
