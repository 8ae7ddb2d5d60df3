// evo:launch byte_layer_reference(X, W, bias, scale, Y, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
__global__ void byte_layer_reference(const signed char* X, const signed char* W, const float* bias, float scale, double* Y, int M,
                                     int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  long long sum = 0;
  for (int k = 0; k < K; ++k) sum += int(X[m * K + k]) * int(W[n * K + k]);
  Y[m * N + n] = double(scale) * double(sum) + double(bias[n]);
}
