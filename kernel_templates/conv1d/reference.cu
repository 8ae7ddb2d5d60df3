// Convolution along sequences as its definition says it, in double precision. One thread computes one element.
// evo:launch conv1d_reference(X, F, Y, N, C, K, L, R) grid(ceil_div(N * K * L, 128)) block(128)

__global__ void conv1d_reference(const float* X, const float* F, double* Y, int sequences, int channels, int filters, int length,
                                 int taps) {
  const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (element >= (long long)sequences * filters * length) return;
  const int l = element % length;
  const int k = element / length % filters;
  const int n = element / length / filters;
  double sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int r = 0; r < taps; ++r) {
      const int from = l + r - taps / 2;
      if (from < 0 || from >= length) continue;
      sum += double(X[((long long)n * channels + c) * length + from]) * double(F[((long long)k * channels + c) * taps + r]);
    }
  }
  Y[element] = sum;
}
