// Group norm as its definition says it, in double precision. One thread computes one group of an image.
// evo:launch group_norm_reference(X, gamma, beta, Y, eps, N * GROUPS, GROUPS, PER_GROUP, H * W) \
//   grid(ceil_div(N * GROUPS, 32)) block(32)

__global__ void group_norm_reference(const float* X, const float* gamma, const float* beta, double* Y, float eps, int count,
                                     int groups, int channels, int pixels) {
  const int group = blockIdx.x * blockDim.x + threadIdx.x;
  if (group >= count) return;
  const long long size = (long long)channels * pixels;
  const float* x = X + group * size;
  double* y = Y + group * size;
  double sum = 0;
  for (long long i = 0; i < size; ++i) sum += double(x[i]);
  const double mean = sum / size;
  double squares = 0;
  for (long long i = 0; i < size; ++i) squares += (double(x[i]) - mean) * (double(x[i]) - mean);
  const double deviation = sqrt(squares / size + double(eps));
  for (long long i = 0; i < size; ++i) {
    const int c = group % groups * channels + i / pixels;
    y[i] = (double(x[i]) - mean) / deviation * double(gamma[c]) + double(beta[c]);
  }
}
